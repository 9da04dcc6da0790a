import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What no plugin may read while it is compiled. */
export const secret = 'correct-horse-battery-staple';

const reads = (specifier: string, attributes = '') => `import stolen from ${JSON.stringify(specifier)}${attributes};
export default { description: 'reads', handler: () => JSON.stringify(stolen) };`;
const says = (expression: string) =>
  `export default { description: 'reads', handler: async () => JSON.stringify(${expression}) };`;

/** Plugins that try to read the host through the compiler, by file name. `HOST` stands for the folder above. */
export const readingPlugins: Readonly<Record<string, string>> = {
  'absolute.ts': reads('HOST/secret.json'),
  'above.ts': reads('../secret.json'),
  'file-url.ts': reads('file://HOST/secret.json'),
  'data-url.ts': `import url from 'data:text/javascript,export { default } from "HOST/secret.json"'; ${says('url')}`,
  'text-attribute.ts': reads('../secret.json', " with { type: 'text' }"),
  'required.ts': says("require('../secret.json')"),
  'required-absolute.js': `module.exports = { description: 'reads', handler: () => require('HOST/secret.json') };`,
  'imported-later.ts': says("await import('../secret.json')"),
  'imported-by-pattern.ts': says("await Promise.all(['secret'].map((name) => import('../' + name + '.json')))"),
  'imported-by-template.ts': says('await Promise.all(["secret"].map((name) => import(`../\u0024{name}.json`)))'),
  'linked-data.ts': reads('./linked.json'),
  'linked-folder.ts': reads('./linked-folder/secret.json'),
  'query.ts': reads('../secret.json?raw'),
  'map.ts': `${says("'harmless'")}\n//# sourceMappingURL=../secret.json`,
  'map-absolute.ts': `${says("'harmless'")}\n//# sourceMappingURL=file://HOST/secret.json`,
  'types-only.ts': `/// <reference path="../secret.json" />\nimport type { x } from '../secret.json';\n${says("'harmless'")}`,
  'typed-arguments.ts': `import type { Stolen } from '../stolen-type.ts';\nexport default { description: 'reads', handler: (args: Stolen) => 'harmless' };`,
  'project/index.ts': reads('@host/secret.json'),
  'linked-package/index.ts': reads('stolen'),
  'package-main/index.ts': reads('outside'),
  'package-exports/index.ts': reads('outside/data'),
  'linked-index/index.ts': says("'harmless'"),
};

/** Lays out the secret, and what tricks a resolver into it. */
export function layOutTraps(folder: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const plugins = join(folder, 'plugins');
  write('secret.json', JSON.stringify({ secret }));
  write('stolen-type.ts', `/** ${secret} */\nexport interface Stolen { /** ${secret} */ field: '${secret}' }`);
  write('stolen/package.json', JSON.stringify({ name: 'stolen', main: 'main.js' }));
  write('stolen/main.js', `module.exports = '${secret}';`);
  write(
    'plugins/project/tsconfig.json',
    JSON.stringify({ extends: '../../secret.json', compilerOptions: { baseUrl: '../..', paths: { '@host/*': ['./*'] } } }),
  );
  write(
    'plugins/package-main/node_modules/outside/package.json',
    JSON.stringify({ name: 'outside', main: '../../../../secret.json' }),
  );
  write(
    'plugins/package-exports/node_modules/outside/package.json',
    JSON.stringify({ name: 'outside', exports: { './data': '../../../../secret.json' } }),
  );
  mkdirSync(join(plugins, 'linked-package', 'node_modules'), { recursive: true });
  symlinkSync(join(folder, 'stolen'), join(plugins, 'linked-package', 'node_modules', 'stolen'));
  symlinkSync(join(folder, 'secret.json'), join(plugins, 'linked-index', 'package.json'));
  symlinkSync(join(folder, 'secret.json'), join(plugins, 'linked.json'));
  symlinkSync(folder, join(plugins, 'linked-folder'));
}
