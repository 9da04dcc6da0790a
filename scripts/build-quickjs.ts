import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { runBinaryen } from './binaryen.ts';

// Builds src/engines/quickjs/cell/quickjs.wasm, which is checked in: the package's QuickJS was compiled for size, with each small
// function called where it could stand. With those put in their places a slice takes about a tenth less.
const source = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
const flags = [
  '-O4',
  '--optimize-level=4',
  '--shrink-level=0',
  '--always-inline-max-function-size=40',
  '--flexible-inline-max-function-size=100',
];
const SECTION = 'made-of';

/** Builds the engine into a file. Throws when the tool fails. */
export async function buildQuickJs(target: string): Promise<void> {
  runBinaryen('wasm-opt', [...flags, source, '-o', target]);
  const section = Buffer.concat([asName(SECTION), Buffer.from(await describeQuickJs())]);
  await writeFile(target, Buffer.concat([await readFile(target), Buffer.from([0]), asLeb(section.length), section]));
}

/** What the engine is made of, as the checked-in one says in its last section: the hash of the package's file, and how it was built. */
export async function describeQuickJs(): Promise<string> {
  return [
    createHash('sha256')
      .update(await readFile(source))
      .digest('hex'),
    ...flags,
  ].join(' ');
}

function asName(name: string): Buffer {
  return Buffer.concat([asLeb(name.length), Buffer.from(name)]);
}

/** A number as WebAssembly writes lengths. */
function asLeb(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

if (import.meta.main) await buildQuickJs(fileURLToPath(new URL('../src/engines/quickjs/cell/quickjs.wasm', import.meta.url)));
