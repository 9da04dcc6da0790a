import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { GrantDecision } from '../../../permissions/decision.ts';
import type { Asking } from '../../../permissions/grant-registry.ts';
import { nameFromFile } from '../../discovery/entry-names.ts';
import type { PluginRoot } from '../../discovery/plugin-roots.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import type { Generation } from '../../generations/generation.ts';
import type { Diagnostic } from '../../plugin-types.ts';
import type { TextCheck } from '../../supervisor-types.ts';
import { textFileOf } from '../entry-text.ts';
import { buildUnsaved, type UnsavedBuildParts } from './unsaved-build.ts';

/**
 * Builds a text as the entry of a plugin, on the disk or not, and throws the build away: nothing is published, kept or written.
 * Rejects when the signal aborts.
 */
export async function checkText(
  parts: UnsavedBuildParts & { readonly decideGrants: (asking: Asking) => GrantDecision },
  {
    source,
    text,
    live,
    signal,
  }: {
    readonly source: PluginSource;
    readonly text: string;
    readonly live: Generation | undefined;
    readonly signal: AbortSignal;
  },
): Promise<TextCheck> {
  const proposed = new Map([[textFileOf(source), text]]);
  const { generation, diagnostic, release } = await buildUnsaved(parts, { source, proposed, signal });
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
}

/** Nobody is asked for the sake of a text that was not saved. */
function describeUnsaved(diagnostic: Diagnostic, name: string): Diagnostic {
  if (diagnostic.code !== 'engine-pending') return diagnostic;
  return { ...diagnostic, fix: `Save it, then answer the question: hotcell approve ${name}. Or do without.` };
}

/** A file that nobody saved yet, as it would lie in a plugin folder. */
export function sourceOfNewFile(root: PluginRoot, name: string): PluginSource {
  const entry = join(realpathSync.native(root.path), name);
  const path = join(root.path, name);
  return { path, name, root, kind: 'file', entry, realEntry: entry, pluginDir: root.path, device: undefined };
}
