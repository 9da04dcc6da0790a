import type { Engine, EngineName } from '../../../engines/engine.ts';
import type { ProposedTexts } from '../../compile/read-input.ts';
import type { PluginSource } from '../../discovery/plugin-source.ts';
import type { Generation } from '../../generations/generation.ts';
import { holdProgram } from '../../generations/program.ts';
import type { Diagnostic } from '../../plugin-types.ts';
import type { BuildOutcome, PluginBuilder } from './builder-types.ts';

/** What texts came to that nobody saved. Nothing of it is published, kept or written. */
export type UnsavedBuild = (
  | {
      readonly generation: Generation;
      /** The very build, for whoever publishes it. */
      readonly build: Extract<BuildOutcome, { ok: true }>;
      readonly diagnostic?: undefined;
    }
  | { readonly generation?: undefined; readonly diagnostic: Diagnostic }
) & {
  /** Forgets its cells, unless a kept generation is the same program. Must be called; again does nothing. */
  readonly release: () => void;
};

/** What proposed texts are built with. */
export interface UnsavedBuildParts {
  readonly builder: Pick<PluginBuilder, 'build'>;
  readonly engines: Partial<Record<EngineName, Pick<Engine, 'discard'>>>;
  /** Whether a generation that is kept, live or not, is this very program: its cells are not to be touched. */
  readonly isKept: (pluginPath: string, programKey: string) => boolean;
}

let built = 0;

/**
 * Builds texts as files of a plugin, on the disk or not. They are nobody's work yet, so no right of an operator counts for them while
 * they are built. Rejects when the signal aborts.
 */
export async function buildUnsaved(
  { builder, engines, isKept }: UnsavedBuildParts,
  { source, proposed, signal }: { readonly source: PluginSource; readonly proposed: ProposedTexts; readonly signal: AbortSignal },
): Promise<UnsavedBuild> {
  const build = await builder.build(source, signal, { author: 'caller', proposed });
  if (!build.ok) return { diagnostic: build.diagnostic, release: () => {} };
  const { manifest, contentHash, programKey, artifacts, inputs } = build;
  const generation: Generation = {
    kind: 'plugin',
    path: source.path,
    id: `proposed-${++built}`,
    contentHash,
    author: 'caller',
    number: 0,
    createdAtMs: Date.now(),
    isStale: false,
    manifest,
    inputs,
    runner: {
      by: 'engine',
      engine: manifest.engine,
      handsOver: manifest.hooks.onReload,
      program: holdProgram(programKey, source.name, artifacts),
    },
  };
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    if (!isKept(source.path, programKey)) engines[manifest.engine]?.discard({ programKey });
  };
  return { generation, build, release };
}
