import type { PluginAuthoring } from '../builtins/authoring.ts';
import { operatorCaller } from '../callers/caller.ts';
import type { ExecutionReader } from '../calls/call-types.ts';
import type { createToolCaller } from '../calls/tool-caller.ts';
import type { Loops } from '../loop/loops.ts';
import type { GrantRegistry } from '../permissions/grant-registry.ts';
import { hidePlace, listRoots } from '../plugins/discovery/plugin-roots.ts';
import type { PluginBuilder } from '../plugins/supervisor/build/builder-types.ts';
import type { PluginSupervisorControls } from '../plugins/supervisor.ts';
import { describeSource } from '../repair/api/describe-source.ts';
import { createDescriptionReader } from '../repair/api/description-reader.ts';
import { createPluginMaker } from '../repair/api/make-plugin.ts';
import { createDiagnoser, describeFailingCall } from '../repair/diagnosis/diagnose.ts';
import type { Diagnosis } from '../repair/diagnosis/diagnosis.ts';
import { applyFixers } from '../repair/fixers/apply-fixers.ts';
import { createHealthChecks, type HealthChecks } from '../repair/health.ts';
import type { DiagnosisOrder } from '../repair/journey.ts';
import { createAskModel } from '../repair/model/ask-model.ts';
import { createAuthoring } from '../repair/model/authoring.ts';
import { createModelProposer } from '../repair/model/propose-by-model.ts';
import { listAttempts } from '../repair/repair.ts';
import { createRepairBook } from '../repair/repair-book.ts';
import { createRepairs, type Repairs } from '../repair/repairs.ts';
import type { TryProposal } from '../repair/trial/trial.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { TypeChecker } from '../typescript/checker.ts';
import type { OpenEngines } from './engines.ts';
import type { Foundation } from './foundation.ts';
import { readKeptTexts } from './trials.ts';

const maxMakeMs = 30_000;
const noModel = 'No model is asked, because repair.model names none.';

/** What repairs are made with. */
export interface RepairNeeds extends Pick<OpenEngines, 'engines'> {
  readonly plugins: PluginSupervisorControls;
  readonly builder: PluginBuilder;
  readonly checker: Pick<TypeChecker, 'inspect' | 'parse'>;
  readonly loops: Pick<Loops, 'run'>;
  readonly executions: ExecutionReader;
  readonly caller: Pick<ReturnType<typeof createToolCaller>, 'readRecording'>;
  readonly tryProposal: TryProposal;
  readonly grants: Pick<GrantRegistry, 'decide'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
}

/** Opens the repairs; they begin with `start`. */
export function openRepairs(
  { config, closers, store, events, resolver, logFault }: Foundation,
  needs: RepairNeeds,
): { readonly repairs: Repairs; readonly authoring: PluginAuthoring; readonly health: HealthChecks } {
  const { plugins, builder, checker, engines, executions, caller } = needs;
  const { mending } = plugins;
  const sharedDirs = () => config.sharedDirs;
  const diagnoser = createDiagnoser({
    checker,
    builder,
    sharedDirs,
    discard: ({ path }, { programKey, manifest }) => {
      if (!mending.isKept(path, programKey)) engines[manifest.engine]?.discard({ programKey });
    },
  });

  async function diagnose({ failure, standing, lastGood, earlier, signal }: DiagnosisOrder): Promise<Diagnosis> {
    const { executionId } = failure;
    const execution = executionId === undefined ? undefined : executions.get(executionId, operatorCaller);
    const recording = executionId === undefined ? undefined : await caller.readRecording(executionId);
    const texts = lastGood === undefined ? undefined : await readKeptTexts(plugins, standing.source, lastGood.id);
    return diagnoser.diagnose({
      source: standing.source,
      name: standing.name,
      failure,
      ...(lastGood === undefined || texts === undefined || texts.size === 0
        ? {}
        : { lastGood: { generation: lastGood.number, sources: texts } }),
      ...(execution === undefined ? {} : { failingCall: describeFailingCall(execution, recording) }),
      earlierAttempts: earlier.toReversed().flatMap(listAttempts),
      signal,
    });
  }

  const descriptions = createDescriptionReader({
    network: config.network,
    resolve: resolver,
    hosts: () => config.repair.sources,
    folders: () => [...config.pluginDirs, ...config.sharedDirs],
  });
  closers.push(() => descriptions.close());
  const makePlugin = createPluginMaker({ maxMs: maxMakeMs });

  async function readSource(diagnosis: Diagnosis): Promise<Diagnosis> {
    const { path } = diagnosis.failure;
    const generation = mending.find(path)?.live ?? mending.lastGood(path);
    const net = generation === undefined ? [] : (needs.grants.decide(generation).granted.net ?? []);
    return { ...diagnosis, sourceToday: await describeSource({ descriptions, makePlugin }, diagnosis, net) };
  }

  const ask = createAskModel(needs.loops, operatorCaller);
  const propose = createModelProposer({ model: () => config.repair.model, ask });
  const roots = listRoots(config);
  const showPath = (path: string) => hidePlace(roots, path);
  const book = createRepairBook({
    table: store.repairs,
    events,
    showPath: (path) => mending.find(path)?.shownPath ?? showPath(path),
    now: Date.now,
  });
  const repairs = createRepairs({
    settings: () => config.repair,
    book,
    mending,
    plugins,
    events,
    diagnose,
    mendByFixers: (diagnosis, accept, signal) => applyFixers(diagnosis, { checker, check: diagnoser.check, accept, signal }),
    tryProposal: needs.tryProposal,
    // Which model is asked, and whether one is, is read when a repair needs one.
    proposeByModel: async (request) =>
      config.repair.model === '' ? noModel : propose({ ...request, diagnosis: await readSource(request.diagnosis) }),
    showPath,
    lastGood: mending.lastGood,
    readFailure: async (executionId) => ({
      execution: executions.get(executionId, operatorCaller),
      recording: await caller.readRecording(executionId),
    }),
    findFailedCheck: (path) => health.findFailure(path),
    now: Date.now,
    onFault: logFault,
  });
  closers.push(() => repairs.close());
  const health = createHealthChecks({
    settings: () => config.repair,
    mending,
    tryProposal: needs.tryProposal,
    onFailure: repairs.consider,
    now: Date.now,
    onFault: logFault,
  });
  closers.push(() => health.close());
  const authoring = createAuthoring({
    settings: () => config.repair,
    book,
    mending,
    plugins,
    diagnose,
    tryProposal: needs.tryProposal,
    repairs,
    ask,
    descriptions,
    makePlugin,
    tools: needs.registry.list,
    now: Date.now,
  });
  return { repairs, authoring, health };
}
