import { basename } from 'node:path';
import type { OnResolveArgs, Plugin } from 'esbuild';
import { needOf } from './specifiers.ts';

/** Libraries that tool files import to describe tools; in an adapted build their constructors only hand back what they get. */
const describing =
  /^(?:(?:@modelcontextprotocol\/(?:sdk|server|core|ext-apps)|fastmcp|@langchain\/core|langchain|@openai\/agents|@opencode-ai\/plugin|@mastra\/core|@sinclair\/typebox|typebox|node-fetch|dotenv|express|cors|hono|@hono\/[\w-]+|ai)(?:\/|$)|@[\w-]+\/pi-(?:ai|tui|coding-agent|agent-core)(?:\/|$))/;

/** Words of other tool formats; a file without them is not tried as one of theirs. */
const otherWords =
  /\b(?:inputSchema|input_schema|execute|registerTool|setRequestHandler|McpServer|FastMCP|Dynamic(?:Structured)?Tool|StructuredTool|createTool|_call)\b|\.(?:tool|addTool|registerCommand)\s*\(|\btool\s*\(|\bfunc\s*:|\btype['"]?\s*:\s*['"]function['"]|[{,]\s*(?:async\s+)?run\s*(?::\s*(?:async\b|function\b|\()|\([^)]*\)[^{;]*\{)/;

/** Whether the text of an entry may describe tools in another format than Hotcell's, or imports a library for that. */
export function speaksOfOtherTools(text: string): boolean {
  return (
    otherWords.test(text) || [...text.matchAll(/\bfrom\s*['"]([^'"\n]+)['"]/g)].some(([, path = '']) => describing.test(path))
  );
}

const serverLibrary =
  /(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s+)['"](express|fastify|koa|hono|@hapi\/hapi|restify|@nestjs\/core)['"]/;

/** What a file is told that makes a web server and no tool; undefined when it imports no library for that. */
export function explainServerLibrary(text: string): { readonly message: string; readonly fix: string } | undefined {
  const library = serverLibrary.exec(text)?.[1];
  if (library === undefined) return undefined;
  return {
    message: `The file exports no tool. It imports "${library}", which makes a web server, and a plugin listens on no engine: Hotcell itself serves its tools over HTTP.`,
    fix: 'Export what a route does: export default { tools: { name: { description, handler: (args) => … } } }. A server that runs elsewhere is called by context.fetch.',
  };
}

/** The entry of an adapted build. The adapter comes first: what it lays ready is there before the file runs. */
export function adaptedEntry(entry: string, isCommonJs: boolean): string {
  const own = JSON.stringify(`./${basename(entry)}`);
  if (isCommonJs) return `const { adapt } = require('hotcell:shapes');\nmodule.exports = { default: adapt(require(${own})) };\n`;
  return `import { adapt } from 'hotcell:shapes';\nimport * as own from ${own};\nexport default adapt(own);\n`;
}

/** What a file of an adapted build reads its settings from: its environment is known only in a call. */
export const adaptedNames = { 'process.env': '__hotcellEnv', 'process.exit': '__hotcellExit' };

/** The esbuild plugin of adapted and of trial builds. */
export function createShapesPlugin(options: {
  readonly entryDir: string;
  readonly readShapes: () => Promise<string>;
  readonly isTrial: boolean;
  /** Built-ins that the sandbox has. */
  readonly builtins: ReadonlyMap<string, unknown>;
}): Plugin {
  return {
    name: 'other-shapes',
    setup(build) {
      build.onResolve({ filter: /^hotcell:shapes$/ }, () => ({ path: 'shapes', namespace: 'shapes' }));
      build.onResolve({ filter: describing }, ({ path }) => ({ path, namespace: 'stand-in' }));
      if (options.isTrial)
        build.onResolve({ filter: /^(?:node:)?[a-z_\d]+(?:\/[a-z_\d]+)?$|\.node$/ }, (args) =>
          resolveTrial(args, options.builtins),
        );
      build.onLoad({ filter: /.*/, namespace: 'shapes' }, async () => ({ contents: await options.readShapes(), loader: 'js' }));
      build.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path }) => ({
        contents: standInText(path),
        loader: 'js',
        resolveDir: options.entryDir,
      }));
    },
  };
}

/** Built-ins of the sandbox that check what they get, which in a trial may come from a built-in that is not there. */
const aboutPlaces: ReadonlySet<string> = new Set(['path', 'path/posix', 'url']);

function resolveTrial({ path }: OnResolveArgs, builtins: ReadonlyMap<string, unknown>) {
  const name = path.replace(/^node:/, '');
  if ((builtins.has(name) && !aboutPlaces.has(name)) || (needOf(name) === undefined && !name.endsWith('.node'))) return undefined;
  return { path: `builtin:${name}`, namespace: 'stand-in' };
}

function standInText(path: string): string {
  const [, builtin] = /^builtin:(.*)$/.exec(path) ?? [];
  const made = builtin === undefined ? `packageOf(${JSON.stringify(path)}, z)` : `builtinOf(${JSON.stringify(builtin)})`;
  const z = path.startsWith('@opencode-ai/') ? "require('zod').z" : 'undefined';
  return `const { packageOf, builtinOf } = require('hotcell:shapes');\nconst z = ${z};\nmodule.exports = ${made};\n`;
}

/** Gives plugins that have no zod installed the one of Hotcell. */
export function createZodPlugin(readOwnZod: (specifier: string) => Promise<string | undefined>): Plugin {
  return {
    name: 'zod',
    setup(build) {
      build.onResolve({ filter: /^(?:zod|@openai\/zod)(?:\/|$)/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === asked) return undefined;
        const installed = await build.resolve(path, { importer, resolveDir, kind, pluginData: asked });
        const own = path.replace(/^@openai\//, '');
        if (installed.errors.length === 0 || (await readOwnZod(own)) === undefined) return installed;
        return { path: own, namespace: 'own-zod', sideEffects: false };
      });
      build.onLoad({ filter: /.*/, namespace: 'own-zod' }, async ({ path }) => ({
        contents: (await readOwnZod(path)) ?? '',
        loader: 'js',
      }));
    },
  };
}

// Marks the plugin's own question, which must not be asked again.
const asked = Symbol('asked');
