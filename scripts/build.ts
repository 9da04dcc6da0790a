import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
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
await compileSources();
declareTypes();
await bundleProgram(join(outDir, 'program'), (source) => source.replace(join(root, 'src'), outDir).replace(/\.ts$/, '.js'));
mkdirSync(guestDir, { recursive: true });
for (const arch of ['x64', 'arm64']) {
  const init = `engines/process/docker/init/hotcell-init-${arch}`;
  cpSync(join(root, 'src', init), join(outDir, init));
}
writeFileSync(join(guestDir, 'prelude.json'), JSON.stringify(await bundlePrelude()));
writeFileSync(join(guestDir, 'portable.json'), JSON.stringify(await bundlePortableCode()));
cpSync(join(root, 'src/guests/portable/runtime.wasm'), join(guestDir, 'portable/runtime.wasm'));
cpSync(join(root, 'src/engines/quickjs/cell/quickjs.wasm'), join(outDir, 'engines/quickjs/cell/quickjs.wasm'));
writeFileSync(join(guestDir, 'node-shims.json'), JSON.stringify(await bundleNodeBuiltins()));
for (const runtime of guestRuntimes) writeFileSync(join(guestDir, `runner-${runtime}.js`), await bundleGuestRunner(runtime));

/** Each source as a file of its own, beside what bundles: threads and processes begin with one. */
async function compileSources(): Promise<void> {
  const isOfGuests = (file: string): boolean => /^src\/guests\/[^/]+\//.test(file);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => join('src', file));
  const seen = new Set(sources.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !isOfGuests(file)));
  // Of what runs in guests there is only what the daemon imports, too.
  for (let wanted = [...seen]; wanted.length > 0; ) {
    const imported = new Set<string>();
    await build({
      absWorkingDir: root,
      entryPoints: wanted,
      outbase: 'src',
      outdir: outDir,
      bundle: true,
      treeShaking: false,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      packages: 'external',
      logLevel: 'warning',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      plugins: [leaveApart((file) => imported.add(relative(root, file)))],
    });
    wanted = [...imported].filter((file) => !seen.has(file));
    for (const file of wanted) seen.add(file);
  }
}

/** A source imports the others as files beside it. */
function leaveApart(onImport: (file: string) => void): Plugin {
  return {
    name: 'leave-apart',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        onImport(join(resolveDir, path));
        return { path: path.replace(/\.ts$/, '.js'), external: true };
      });
    },
  };
}

/** Of what plugins import, and the files that it speaks of: nobody imports anything else of the package. */
function declareTypes(): void {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
