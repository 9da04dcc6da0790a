import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { embedSidecar } from '../../../engines/extism/module/sidecar.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { hashInputs } from '../../compile/input-ledger.ts';
import type { ProposedTexts } from '../../compile/read-input.ts';
import { sidecarExtensions } from '../../discovery/entry-names.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import { hashBytes } from '../../generations/artifact-files.ts';
import type { BuildInput } from '../../generations/generation.ts';
import { readBuildInput } from '../../watch/seen.ts';
import { refuseStrayLink } from '../entry-text.ts';
import type { Compiled, NotCompiled } from './builder-types.ts';

const maxModuleBytes = 64 * 1024 * 1024;
const maxSidecarBytes = 1024 * 1024;

/** Reads a `.wasm` with the manifest beside it. */
export async function compileModule(source: PluginSource, proposed: ProposedTexts | undefined): Promise<Compiled | NotCompiled> {
  const sidecarPath = source.sidecar;
  const stem = source.path.slice(0, -'.wasm'.length);
  const missing = sidecarPath ? [] : sidecarExtensions.map((extension) => stem + extension);
  const found = [source.realEntry, ...(sidecarPath ? [sidecarPath] : [])].map(readBuildInput);
  const inputs = found.filter((input) => input !== undefined);
  try {
    if (source.strayLink !== undefined) throw refuseStrayLink(source.strayLink);
    const module = await readBounded(source.realEntry, maxModuleBytes);
    const sidecar =
      sidecarPath && (proposed?.get(sidecarPath) ?? (await readBounded(sidecarPath, maxSidecarBytes)).toString('utf8'));
    // What is hashed must be what is used; a file that changed in between is seen by the check before publication.
    const code = embedSidecar(
      source.name,
      module,
      sidecar && sidecarPath ? { file: basename(sidecarPath), text: sidecar } : undefined,
    );
    const read = inputs.map((input) => ({ ...input, sha256: hashProposed(input, proposed) }));
    const contentHash = hashInputs(read, (path) => basename(path));
    return { ok: true, engine: 'extism', contentHash, inputs, warnings: [], isAdapted: false, artifacts: { code, sources: [] } };
  } catch (error) {
    const { code, message, fix } = error instanceof HotcellError ? error : unreadable(source);
    return { ok: false, diagnostic: { code, message, file: source.name, fix }, inputs, missing };
  }
}

function hashProposed({ path, sha256 }: BuildInput, proposed: ProposedTexts | undefined): string {
  const text = proposed?.get(path);
  return text === undefined ? sha256 : hashBytes(text);
}

function unreadable(source: PluginSource): HotcellError {
  return new HotcellError('entry-invalid', `"${source.name}" or the manifest beside it cannot be read.`, {
    fix: 'Allow the user of the daemon to read both files.',
  });
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const bytes = await readFile(path);
  if (bytes.length <= maxBytes) return bytes;
  throw new HotcellError('entry-invalid', `${basename(path)} has ${bytes.length} bytes; at most ${maxBytes} are read.`);
}
