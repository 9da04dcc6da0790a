import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const texts = new Map<string, Promise<string | undefined>>();

/**
 * Hotcell's own zod as one module, for plugins that have none installed, with messages in English alone: all its languages
 * would double the memory of every plugin. Undefined for a part of zod that it does not have.
 */
export function readOwnZod(specifier: string): Promise<string | undefined> {
  const known = texts.get(specifier);
  if (known) return known;
  const text = bundleZod(specifier);
  texts.set(specifier, text);
  return text;
}

async function bundleZod(specifier: string): Promise<string | undefined> {
  try {
    const result = await build({
      stdin: {
        contents: `export * from ${JSON.stringify(specifier)};\nexport { default } from ${JSON.stringify(specifier)};`,
        resolveDir: here,
      },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      tsconfigRaw: '{}',
      logLevel: 'silent',
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
    return result.outputFiles[0]?.text;
  } catch {
    return undefined;
  }
}
