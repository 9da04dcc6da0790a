import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CapabilityTable } from '../border/capability.ts';
import { operatorCaller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import type { TryProposal } from '../repair/trial/trial.ts';
import { trialFolder } from '../repair/trial/trial-world.ts';
import { createTryProposal } from '../repair/trial/try-proposal.ts';
import { createTypeFaults } from '../repair/trial/type-faults.ts';
import type { TypeChecker } from '../typescript/checker.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { Foundation } from './foundation.ts';
import type { OpenReplays } from './replays.ts';

/** What proposals are tried with. */
export interface TrialNeeds extends Pick<OpenEngines, 'engines'>, Pick<Consents, 'grants'> {
  readonly plugins: Pick<PluginSupervisor, 'proposeFiles'>;
  readonly capabilities: Pick<CapabilityTable, 'leavesTrace'>;
  readonly checker: Pick<TypeChecker, 'inspect'>;
  readonly replaying: Pick<OpenReplays, 'runRecorded' | 'readRecorded' | 'prepare'>;
}

/** So many calls of a tool are looked through for those of one generation. */
const maxLooked = 100;

/** Opens trials; what one of a killed daemon left behind goes. */
export function openTrials({ config, store }: Foundation, needs: TrialNeeds): TryProposal {
  const { engines, grants, plugins, capabilities, checker, replaying } = needs;
  for (const name of readdirSync(config.dataDir)) {
    if (name.startsWith(trialFolder)) rmSync(join(config.dataDir, name), { recursive: true, force: true });
  }
  return createTryProposal({
    config,
    engines,
    plugins,
    prepare: replaying.prepare,
    runRecorded: replaying.runRecorded,
    leavesTrace: capabilities.leavesTrace,
    decideGrants: grants.decide,
    findTypeFaults: createTypeFaults({ checker, sharedDirs: () => config.sharedDirs }),
    async readRecorded(id) {
      try {
        return await replaying.readRecorded(id, operatorCaller);
      } catch (error) {
        if (error instanceof HotcellError) return undefined;
        throw error;
      }
    },
    listSuccesses: (generation, limit) =>
      generation.manifest.tools
        .flatMap(({ name: tool }) => store.executions.list({ tool, status: 'success', limit: maxLooked }))
        .filter((row) => row.generation === generation.id)
        .slice(0, limit)
        .map(({ id }) => id),
  });
}
