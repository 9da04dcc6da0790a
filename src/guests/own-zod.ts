import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleGuest } from './bundle.ts';

const texts = new Map<string, Promise<string | undefined>>();

/**
 * Hotcell's own zod as one module, for plugins that have none installed, with messages in English alone: all its languages
 * would double the memory of every plugin. Undefined for a part of zod that it does not have.
 */
export function readOwnZod(specifier: string): Promise<string | undefined> {
  const text = texts.get(specifier) ?? bundleZod(specifier).catch(() => undefined);
  texts.set(specifier, text);
  return text;
}

function bundleZod(specifier: string): Promise<string> {
  const name = JSON.stringify(specifier);
  return bundleGuest({
    stdin: {
      contents: `export * from ${name};\nexport { default } from ${name};`,
      resolveDir: dirname(fileURLToPath(import.meta.url)),
    },
    format: 'esm',
    mainFields: ['module', 'main'],
    plugins: [
      {
        name: 'english',
        setup(bundle) {
          bundle.onLoad({ filter: /[\\/]locales[\\/]index\.js$/ }, () => ({
            contents: "export { default as en } from './en.js';",
          }));
        },
      },
    ],
  });
}
