import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createSlots } from '../../../concurrency/slots.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { ProposedTexts } from '../../compile/read-input.ts';
import { classifyName, nameFromFile } from '../../discovery/entry-names.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import type { Generation } from '../../generations/generation.ts';
import type { Diagnostic } from '../../plugin-types.ts';
import type { TextCheck } from '../../supervisor-types.ts';
import { textFileOf } from '../entry-text.ts';
import type { PluginSet } from '../plugin-set.ts';
import type { SupervisorRoom } from '../supervisor-parts.ts';
import { buildUnsaved, type UnsavedBuildParts } from './unsaved-build.ts';

const maxAtOnce = 2;
const maxWaiting = 16;

/** Creates what builds texts that nobody saved: they take no place of those that somebody did. */
export function createTextChecks(
  parts: UnsavedBuildParts & Pick<SupervisorRoom, 'roots' | 'decideGrants'> & { readonly queues: PluginSet['queues'] },
) {
  const slots = createSlots(maxAtOnce);

  /** Builds texts as files of a plugin; nothing is published, kept or written. Rejects when the signal aborts, and with `queue-full`. */
  async function build(source: PluginSource, proposed: ProposedTexts, signal: AbortSignal) {
    if (slots.waiting() < maxWaiting) return slots.run(() => buildUnsaved(parts, { source, proposed, signal }), signal);
    const message = `${maxWaiting} texts wait to be checked already.`;
    throw new HotcellError('queue-full', message, { fix: 'Check again when some of them are done.' });
  }

  return {
    build,
    /** Builds a text as the entry of a plugin, on the disk or not, and throws the build away. */
    async check(source: PluginSource, live: Generation | undefined, text: string, signal: AbortSignal): Promise<TextCheck> {
      const { generation, diagnostic, release } = await build(source, new Map([[textFileOf(source), text]]), signal);
      release();
      const name = live?.manifest.name ?? nameFromFile(source.name);
      if (!generation) return { name, ok: false, changed: true, diagnostic: describeUnsaved(diagnostic, name) };
      const { manifest, contentHash } = generation;
      const { pending } = parts.decideGrants({ path: source.path, contentHash, author: 'operator', manifest });
      return {
        name: manifest.name,
        ok: true,
        changed: contentHash !== live?.contentHash,
        version: manifest.version,
        engine: manifest.engine,
        tools: manifest.tools.map((tool) => tool.name),
        permissions: { requested: manifest.permissions, pending },
        warnings: manifest.warnings,
      };
    },
    /** The place of a file that is to be a plugin and is not there yet; undefined when there is one, or the name is none for a plugin. */
    findNewFile(name: string): PluginSource | undefined {
      const root = parts.roots.find(({ kind }) => kind === 'plugins');
      const isNew = classifyName(name) === 'code' && basename(name) === name;
      if (!isNew || root === undefined || parts.queues.values().some(({ record }) => record.source.name === name))
        return undefined;
      const entry = join(realpathSync.native(root.path), name);
      const path = join(root.path, name);
      return { path, name, root, kind: 'file', entry, realEntry: entry, pluginDir: root.path, device: undefined };
    },
  };
}

/** Nobody is asked for the sake of a text that was not saved. */
function describeUnsaved(diagnostic: Diagnostic, name: string): Diagnostic {
  if (diagnostic.code !== 'engine-pending') return diagnostic;
  return { ...diagnostic, fix: `Save it, then answer the question: hotcell approve ${name}. Or do without.` };
}
