import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import createWabt from 'wabt';

// Assembles every .wat of wasm/extism into a plugin in wasm, which is checked in: a clean clone runs without this step.
const folder = fileURLToPath(new URL('../wasm/extism/', import.meta.url));
const pluginFolder = fileURLToPath(new URL('../wasm/', import.meta.url));

for (const name of (await readdir(folder)).filter((file) => file.endsWith('.wat'))) {
  const bytes = await assembleModule(name, await readFile(folder + name, 'utf8'));
  const target = name.replace(/\.wat$/, '.wasm');
  await writeFile(pluginFolder + target, bytes);
  console.log(`${target}: ${bytes.length} bytes`);
}

/** Assembles WebAssembly text; throws with the assembler's own message. */
async function assembleModule(name: string, text: string): Promise<Uint8Array> {
  const wabt = await createWabt();
  const module = wabt.parseWat(name, text, { bulk_memory: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}
