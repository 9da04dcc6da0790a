import { isNothing, subtractPermissions } from '../../permissions/decision.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { UnsavedBuild } from '../../plugins/supervisor/build/unsaved-build.ts';
import { judgeDiagnostic } from '../failures/judge.ts';
import type { TrialCheck, TryProposal } from './trial.ts';

/** Tries what can be seen of a build alone: that there is one, with the same tools and no more permissions. */
export function createBuildTrial(
  propose: (source: PluginSource, texts: ReadonlyMap<string, string>, signal: AbortSignal) => Promise<UnsavedBuild>,
): TryProposal {
  return async ({ source, proposal, diagnosed, failure, signal }) => {
    const built = await propose(source, proposal.files, signal);
    if (built.generation === undefined) {
      const judged = judgeDiagnostic(source.path, built.diagnostic);
      const checks: TrialCheck[] = [{ name: 'compiles', outcome: 'failed', detail: built.diagnostic.message }];
      return { verdict: 'not-mended', checks, ...('failure' in judged ? { remaining: judged.failure } : {}) };
    }
    const { build, release } = built;
    const candidate = { build, release };
    const before = diagnosed?.manifest;
    const names = new Set(build.manifest.tools.map(({ name }) => name));
    const gone = before?.tools.filter(({ name }) => !names.has(name)).map(({ name }) => name) ?? [];
    const more = before === undefined ? {} : subtractPermissions(build.manifest.permissions, before.permissions);
    const checks: TrialCheck[] = [
      { name: 'compiles', outcome: 'passed', detail: 'It compiles and loads.' },
      {
        name: 'tools',
        outcome: gone.length === 0 ? 'passed' : 'failed',
        detail: gone.length === 0 ? 'The same tools.' : `Gone: ${gone.join(', ')}.`,
      },
      {
        name: 'permissions',
        outcome: isNothing(more) ? 'passed' : 'failed',
        detail: isNothing(more) ? 'No more than before.' : JSON.stringify(more),
      },
    ];
    if (gone.length > 0) return { verdict: 'worse', checks, candidate };
    if (!isNothing(more)) return { verdict: 'asks-for-more', checks, more, candidate };
    const isOfBuild = ['does-not-compile', 'does-not-load', 'manifest-invalid'].includes(failure.class);
    return { verdict: isOfBuild ? 'mended' : 'not-mended', checks, candidate };
  };
}
