import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { defaultSettings } from '../../src/config/schema.ts';
import type { RepairSettings } from '../../src/config/settings/repair-settings.ts';
import type { DiagnosisOrder, JourneyParts } from '../../src/repair/journey.ts';
import type { Proposal } from '../../src/repair/repair.ts';
import { createRepairBook } from '../../src/repair/repair-book.ts';
import { createRepairs, type Repairs } from '../../src/repair/repairs.ts';
import type { TryProposal } from '../../src/repair/trial/trial.ts';
import { makeFolder, type Rig, type SharedParts, startRig } from '../plugins/rig/supervisor-rig.ts';

/** A text with a mistake that the fixer of the rig knows: it says `BROKEN` where nothing should stand. */
export const broken = (answer = 'mended') =>
  `export default { description: 'Answers.', handler: async () => BROKEN(${JSON.stringify(answer)} };\n`;
export const mendedText = (answer = 'mended') => broken(answer).replace('BROKEN(', '');

export interface RepairRig extends Rig {
  readonly file: string;
  readonly repairs: Repairs;
  readonly settings: { current: RepairSettings };
  /** `beforeTrial` may save the file in the middle of a repair. */
  readonly state: { beforeTrial: () => void | Promise<void>; clock: number };
}

/** Repairs over real plugins: built, loaded and published as in the daemon; a proposal is mended when it builds. */
export async function startRepairRig(
  shared: SharedParts,
  options: {
    readonly text?: string;
    readonly home?: string;
    readonly settings?: Partial<RepairSettings>;
    readonly proposeByModel?: JourneyParts['proposeByModel'];
    readonly sureness?: 'sure' | 'maybe';
    /** Told each time that the checks of the plugin are run; all of them pass. */
    readonly onCheck?: () => Promise<void>;
  } = {},
): Promise<RepairRig> {
  const home = options.home ?? makeFolder();
  const file = join(home, 'plugins', 'hello.ts');
  mkdirSync(join(home, 'plugins'), { recursive: true });
  if (options.text !== undefined) writeFileSync(file, options.text);
  const rig = await startRig(shared, { home });
  const settings = { current: { ...defaultSettings.repair, ...options.settings } as RepairSettings };
  const { mending } = rig.supervisor;
  const state = { beforeTrial: (): void | Promise<void> => undefined, clock: 1_000_000 };
  const book = createRepairBook({ table: rig.store.repairs, events: rig.log, showPath: (path) => path, now: () => state.clock });

  const diagnose = async ({ failure, standing }: DiagnosisOrder) => {
    const { realEntry } = standing.source;
    const sources = new Map([[realEntry, readFileSync(realEntry, 'utf8')]]);
    const plugin = { source: standing.source, name: standing.name, contentHash: standing.contentHash };
    return {
      plugin,
      failure,
      sources,
      typeErrors: [],
      declarations: [],
      nearby: { files: [], packages: [] },
      earlierAttempts: [],
      packageDirs: [],
    };
  };
  const tryProposal: TryProposal = async ({ source, proposal, signal }) => {
    await state.beforeTrial();
    const build = await rig.builder.build(source, signal, { author: 'repair', proposed: proposal.files });
    if (build.ok)
      return {
        verdict: 'mended',
        checks: [{ name: 'compiles', outcome: 'passed', detail: 'It builds.' }],
        candidate: { build, release: () => undefined },
      };
    return {
      verdict: 'not-mended',
      checks: [{ name: 'compiles', outcome: 'failed', detail: build.diagnostic.message }],
    };
  };
  const repairs = createRepairs({
    settings: () => settings.current,
    plugins: rig.supervisor,
    mending,
    book,
    events: rig.log,
    showPath: (path) => path,
    lastGood: (path) =>
      rig.store.generations
        .listOf(path)
        .map(({ id }) => rig.supervisor.findGeneration(id))
        .find((kept) => kept !== undefined),
    diagnose,
    tryProposal,
    async mendByFixers({ sources }, accept) {
      const [found] = [...sources].filter(([, text]) => text.includes('BROKEN('));
      if (found === undefined) return { builds: false, steps: [], checked: 0 };
      const [path, text] = found;
      const files = new Map([[path, text.replace('BROKEN(', '')]]);
      const proposal: Proposal = { files, by: 'broken-word', sureness: options.sureness ?? 'sure', note: 'BROKEN is taken out.' };
      return { builds: await accept(proposal), proposal, steps: [proposal], checked: 1 };
    },
    proposeByModel: options.proposeByModel,
    readFailure: () => Promise.reject(new Error('No call runs here.')),
    findFailedCheck: async () => {
      await options.onCheck?.();
      return undefined;
    },
    now: () => state.clock,
    onFault: (error) => {
      throw error;
    },
  });
  repairs.start();
  onTestFinished(() => repairs.close());
  return Object.assign(rig, { file, repairs, settings, state });
}
