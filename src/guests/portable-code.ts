import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { bundleGuest } from './bundle.ts';

const sourceDir = new URL('./portable/', import.meta.url);
const builtFile = new URL('./portable.json', import.meta.url);
const runtimeFile = new URL('./portable/runtime.wasm', import.meta.url);

const codeShape = Type.Object({ main: Type.String(), parts: Type.Record(Type.String(), Type.String()) });
const readCode = Compile(codeShape);

/** What stands in a built module for the daemon: the code evaluated first, and parts that stay text until they are needed. */
export type PortableCode = Type.Static<typeof codeShape>;

/** For each part the code of plugins that are likely to need it; a wrong guess costs time, never correctness. */
const usesByPart: Readonly<Record<string, RegExp>> = {
  url: /\bURL(?:SearchParams)?\b|\bfetch\b|\bRequest\b|\bsearchParams\b/,
  digests: /\bsubtle\b|\bcreateH(?:ash|mac)\b/,
};

/** The parts that a bundle is likely to need. */
export function listParts(code: string): string[] {
  return Object.entries(usesByPart)
    .filter(([, uses]) => uses.test(code))
    .map(([name]) => name);
}

let bundled: Promise<PortableCode> | undefined;

/** Reads the code that the package build left, or bundles it from source. */
export async function loadPortableCode(): Promise<PortableCode> {
  const file = fileURLToPath(builtFile);
  if (existsSync(file)) return readCode.Parse(JSON.parse(readFileSync(file, 'utf8')));
  bundled ??= bundlePortableCode();
  return bundled;
}

/** The module that plugins are frozen into: QuickJS with an adapter to Extism. */
export function readRuntime(): Buffer {
  const file = fileURLToPath(runtimeFile);
  if (!existsSync(file)) throw new Error('The runtime of built modules is missing: npm run build:wasm makes it.');
  return readFileSync(file);
}

/** Bundles `portable`. */
export async function bundlePortableCode(): Promise<PortableCode> {
  const bundle = (name: string, globalName = ''): Promise<string> =>
    bundleGuest({
      entryPoints: [fileURLToPath(new URL(name, sourceDir))],
      format: 'iife',
      globalName,
      mainFields: ['module', 'main'],
      minify: true,
    });
  const parts = Object.keys(usesByPart).map(async (name) => [name, await bundle(`parts/${name}.ts`, 'part')] as const);
  return { main: await bundle('main.ts'), parts: Object.fromEntries(await Promise.all(parts)) };
}
