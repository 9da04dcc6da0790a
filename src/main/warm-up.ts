import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSource } from '../plugins/discovery/plugin-source.ts';
import type { PluginBuilder } from '../plugins/supervisor/build/builder-types.ts';

/** Has a type to read and a handler to load, so that every part of a build has work. */
const sample = "export default { description: 'Warms up', handler: (_args: { text?: string }) => '' };\n";

/**
 * Builds a sample that nobody serves: the bundler, the reader of types and the sandbox start with the first build, which
 * would otherwise be that of the first save. Never rejects; what fails here fails again, and is told, with a plugin.
 */
export async function warmUp(builder: PluginBuilder, dataDir: string, signal: AbortSignal): Promise<void> {
  const folder = join(dataDir, 'warm-up');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'sample.ts'), sample);
    const source = findSource({ path: folder, kind: 'plugins', label: 'warm-up' }, 'sample.ts');
    if (source !== undefined) await builder.build(source, signal);
  } catch {
    // The disk may be full, or the daemon may end.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
