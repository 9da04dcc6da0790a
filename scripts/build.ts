import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleNodeBuiltins } from '../src/guests/node-builtins.ts';
import { bundlePortableCode } from '../src/guests/portable-code.ts';
import { bundlePrelude } from '../src/guests/prelude.ts';
import { bundleGuestRunner, guestRuntimes } from '../src/guests/runner.ts';
import { bundleProgram } from './bundle.ts';

// Builds what the package publishes: JavaScript with declarations, and the guest side bundled, since the package carries
// neither its TypeScript nor the sources of the guest.
const root = fileURLToPath(new URL('../', import.meta.url));
const outDir = join(root, 'dist');
const guestDir = join(outDir, 'guests');

rmSync(outDir, { recursive: true, force: true });
compileSources();
await bundleProgram(join(outDir, 'program'), (source) => source.replace(join(root, 'src'), outDir).replace(/\.ts$/, '.js'));
mkdirSync(guestDir, { recursive: true });
for (const arch of ['x64', 'arm64']) {
  const init = `engines/process/docker/init/hotcell-init-${arch}`;
  cpSync(join(root, 'src', init), join(outDir, init));
}
writeFileSync(join(guestDir, 'prelude.json'), JSON.stringify(await bundlePrelude()));
writeFileSync(join(guestDir, 'portable.json'), JSON.stringify(await bundlePortableCode()));
cpSync(join(root, 'src/guests/portable/runtime.wasm'), join(guestDir, 'portable/runtime.wasm'));
writeFileSync(join(guestDir, 'node-shims.json'), JSON.stringify(await bundleNodeBuiltins()));
for (const runtime of guestRuntimes) writeFileSync(join(guestDir, `runner-${runtime}.js`), await bundleGuestRunner(runtime));

function compileSources(): void {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
