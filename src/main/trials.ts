import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CapabilityTable } from '../border/capability.ts';
import { operatorCaller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { PluginSource } from '../plugins/discovery/plugin-source.ts';
import type { PluginSupervisorControls } from '../plugins/supervisor.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import { policyOf, readPluginTexts } from '../repair/diagnosis/plugin-texts.ts';
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
  readonly plugins: Pick<PluginSupervisor, 'proposeFiles'> & Pick<PluginSupervisorControls, 'readArtifacts'>;
  readonly capabilities: Pick<CapabilityTable, 'leavesTrace'>;
  readonly checker: Pick<TypeChecker, 'inspect' | 'restore'>;
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
    maxTrialMs: () => config.repair.trialMs,
    async restoreHealthcheck(source, generation, texts, signal) {
      const before = toFiles(await readKeptTexts(plugins, source, generation.id));
      const after = toFiles(readPluginTexts(source, policyOf(source, config.sharedDirs), texts));
      const request = { entry: source.realEntry, name: 'healthcheck', before, after };
      const restored = await checker.restore(request, { callerId: 'trial', signal }).catch(() => {
        signal.throwIfAborted();
        return undefined;
      });
      return restored && new Map(restored.map(({ name, text }) => [name, text]));
    },
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

/** The texts of a kept generation by real path. */
export async function readKeptTexts(
  plugins: Pick<PluginSupervisorControls, 'readArtifacts'>,
  { root }: PluginSource,
  generationId: string,
): Promise<Map<string, string>> {
  const folder = realpathSync(root.path);
  const trace = await plugins.readArtifacts(generationId);
  return new Map(trace?.sources.map(({ path, text }) => [join(folder, path), text]));
}

function toFiles(texts: ReadonlyMap<string, string>) {
  return [...texts].map(([name, text]) => ({ name, text }));
}
