import type { ErrorCode } from '../../src/errors/catalog.ts';

/** A file that is no good plugin, and the words that its author needs. */
export interface BadPlugin {
  readonly what: string;
  readonly file: string;
  readonly content: string | Uint8Array;
  readonly code: ErrorCode;
  readonly message: RegExp;
  readonly fix: RegExp;
  /** Line of the code frame, where there is one. */
  readonly line?: number;
}

const handler = 'handler: () => 1';

function plugin(body: string): string {
  return `export default {\n  name: 'x', description: 'X.',\n  ${body},\n};\n`;
}

/** Imports something and is fine else. */
function importing(specifier: string): string {
  return `import thing from '${specifier}';\n${plugin('handler: () => thing')}`;
}

/** Every file that a person may drop by mistake, or on purpose. */
export const badPlugins: readonly BadPlugin[] = [
  {
    what: 'a syntax error',
    file: 'syntax.ts',
    content: plugin('handler: (args: { n: number }) => args.n +'),
    code: 'compile-failed',
    message: /Unexpected/,
    fix: /is built again by itself/,
    line: 3,
  },
  {
    what: 'an import of a file that is not there',
    file: 'misspelt-import.ts',
    content: importing('./_neighbuor.ts'),
    code: 'import-unresolved',
    message: /"\.\/_neighbuor\.ts" was not found/,
    fix: /Did you mean "\.\/_neighbour\.ts"/,
    line: 1,
  },
  {
    what: 'a web server and no tool',
    file: 'web-server.ts',
    content:
      "import express from 'express';\nconst app = express();\napp.get('/', (_request: any, response: any) => response.send('hi'));\napp.listen(3000);\n",
    code: 'export-missing',
    message: /imports "express", which makes a web server, and a plugin listens on no engine/,
    fix: /Export what a route does/,
  },
  {
    what: 'an import of a package that is not there',
    file: 'missing-package.ts',
    content: importing('no-such-package'),
    code: 'import-unresolved',
    message: /"no-such-package" was not found/,
    fix: /npm install no-such-package/,
    line: 1,
  },
  {
    what: 'an import by an absolute path',
    file: 'absolute-import.ts',
    content: importing('/etc/hostname'),
    code: 'import-refused',
    message: /"\/etc\/hostname" is refused: it is no file of this plugin/,
    fix: /sharedDirs/,
    line: 1,
  },
  {
    what: 'an import from outside of the folder',
    file: 'outside-import.ts',
    content: importing('../secret.ts'),
    code: 'import-refused',
    message: /"\.\.\/secret\.ts" is refused: it is no file of this plugin/,
    fix: /begins with _ if plugins share it/,
    line: 1,
  },
  {
    what: 'an import of JSON of the host',
    file: 'host-json.ts',
    content: importing('../secret.json'),
    code: 'import-refused',
    message: /"\.\.\/secret\.json" is refused/,
    fix: /move it into a folder of this plugin/,
    line: 1,
  },
  {
    what: 'an import of a built-in that the sandbox has not',
    file: 'built-in.ts',
    content: importing('node:fs'),
    code: 'builtin-refused',
    message: /"node:fs" is refused/,
    fix: /context\.files/,
    line: 1,
  },
  {
    what: 'a module without a default export',
    file: 'no-default.ts',
    content: 'export const a = 1;\n',
    code: 'export-missing',
    message: /no default export/,
    fix: /export default \{ name/,
  },
  {
    what: 'an extension that registers no tool',
    file: 'extension.ts',
    content: 'export default (api) => api.registerCommand("x", {});\n',
    code: 'export-missing',
    message: /registers no tool/,
    fix: /export default \{ description/,
  },
  {
    what: 'a handler that is no function',
    file: 'handler-text.ts',
    content: plugin("handler: 'now'"),
    code: 'manifest-invalid',
    message: /"handler" must be a function, but is "now"/,
    fix: /handler: async \(args, context\)/,
    line: 3,
  },
  {
    what: 'an unknown key',
    file: 'unknown-key.ts',
    content: plugin(`desciption: 'X.', ${handler}`),
    code: 'manifest-invalid',
    message: /"desciption"/,
    fix: /"description"/,
    line: 3,
  },
  {
    what: 'an unknown limit',
    file: 'unknown-limit.ts',
    content: plugin(`limits: { memoryByte: 5 }, ${handler}`),
    code: 'manifest-invalid',
    message: /"limits\.memoryByte"/,
    fix: /"memoryBytes"/,
    line: 3,
  },
  {
    what: 'a version that is none',
    file: 'bad-version.ts',
    content: plugin(`version: 'one', ${handler}`),
    code: 'manifest-invalid',
    message: /"version" must be a semantic version such as "1\.2\.0", but is "one"/,
    fix: /Correct/,
    line: 3,
  },
  {
    what: 'an unknown permission',
    file: 'unknown-permission.ts',
    content: plugin(`permissions: { nett: ['api.example.com'] }, ${handler}`),
    code: 'permissions-invalid',
    message: /no key "nett"\. Did you mean "net"\?/,
    fix: /hotcell docs permissions/,
    line: 3,
  },
  {
    what: 'a permission that cannot be read',
    file: 'unreadable-permission.ts',
    content: plugin(`permissions: { net: 5 }, ${handler}`),
    code: 'permissions-invalid',
    message: /permissions\.net must be a list such as .*; got 5/,
    fix: /hotcell docs permissions/,
    line: 3,
  },
  {
    what: 'a module that throws',
    file: 'throws-on-load.ts',
    content: `throw new Error('not today');\n`,
    code: 'load-failed',
    message: /not today/,
    fix: /when the module is evaluated/,
    line: 1,
  },
  {
    what: 'a module that throws for a variable that it reads too early',
    file: 'early-variable.ts',
    content: `if (!process.env.EARLY_KEY) throw new Error('no key');\n${plugin(handler)}`,
    code: 'load-failed',
    message: /no key/,
    fix: /EARLY_KEY is read while the file loads.* Read it inside the handler/,
    line: 1,
  },
  {
    what: 'a module that needs more memory than there is',
    file: 'large-load.ts',
    content: `export const all = new Uint8Array(80 * 2 ** 20).fill(1);\n${plugin(handler)}`,
    code: 'memory-exceeded',
    message: /Loading large-load\.ts used more than \d+ bytes of memory/,
    fix: /a smaller package/,
  },
  {
    what: 'a module that never ends',
    file: 'never-loads.ts',
    content: `while (true) {}\n${plugin(handler)}`,
    code: 'time-exceeded',
    message: /Loading \S+ took more than \d+ ms/,
    fix: /cpuMs/,
  },
  {
    what: 'a binary file',
    file: 'binary.ts',
    content: Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0, 255]),
    code: 'entry-invalid',
    message: /is binary/,
    fix: /UTF-8/,
  },
  { what: 'an empty file', file: 'empty.ts', content: '', code: 'entry-invalid', message: /is empty/, fix: /export default/ },
  {
    what: 'a file of 10 MB',
    file: 'huge.ts',
    content: `// ${'x'.repeat(10 * 2 ** 20)}\n${plugin(handler)}`,
    code: 'entry-invalid',
    message: /larger than 5 MB/,
    fix: /Keep data out of the code/,
  },
];
