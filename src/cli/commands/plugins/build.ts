import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { renderDiagnostic } from '../../render/error.ts';
import type { CliSession } from '../../session.ts';
import { addCommand } from '../command.ts';

/** Adds `hotcell build`: a plugin as a WebAssembly module for any Extism host. Needs no daemon. */
export function registerBuild(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'build',
    arguments: { '<path>': 'the plugin: its name, a .ts or .js file, or a folder with an index.ts' },
    options: { '-o, --output <file>': 'where to write the module (the name of the plugin with .wasm)' },
    run: async ({ path, output, json, ...flags }) => {
      // Compilers and engines are read when somebody builds, not with every command.
      const { buildPluginModule } = await import('../../module-build.ts');
      const { findPluginPath } = await import('../../find-plugin.ts');
      const signal = session.io.signal ?? new AbortController().signal;
      const outcome = await buildPluginModule(
        await findPluginPath(session, flags, path),
        { config: await session.readConfig(flags), schemaReader: session.io.schemaReader },
        signal,
      );
      if (!outcome.ok) {
        session.exitCode = exitCodes.failed;
        if (json) session.printJson({ ok: false, diagnostic: outcome.diagnostic });
        else session.note(renderDiagnostic(outcome.diagnostic, session.style));
        return;
      }
      const { name, module, exports, warnings } = outcome;
      const file = resolve(session.io.cwd, output ?? `${name}.wasm`);
      writeWhole(file, module);
      if (json) return session.printJson({ ok: true, file, bytes: module.length, exports, warnings });
      for (const warning of warnings) session.note(`${session.style.yellow('!')} ${warning}\n`);
      const size = `${(module.length / 1024 / 1024).toFixed(1)} MiB`;
      session.print(`${session.style.green('✓')} ${basename(file)} (${size}) exports ${exports.join(', ')}\n`);
    },
  });
}

/** A daemon that watches the folder sees the whole module or none. */
function writeWhole(file: string, module: Uint8Array): void {
  const part = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    writeFileSync(part, module);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    const reason = error instanceof Error ? error.message.split(',')[0] : String(error);
    throw new HotcellError('usage-wrong', `The module cannot be written to ${file}: ${reason}.`, {
      fix: 'Name a file in a folder that is there, with -o FILE.',
    });
  }
}
