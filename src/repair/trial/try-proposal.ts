import { raceAbort } from '../../concurrency/race-abort.ts';
import type { Config } from '../../config/config-types.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { type GrantDecision, isNothing } from '../../permissions/decision.ts';
import type { Asking } from '../../permissions/grant-registry.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import type { Generation } from '../../plugins/generations/generation.ts';
import type { UnsavedBuild } from '../../plugins/supervisor/build/unsaved-build.ts';
import type { PluginSupervisor } from '../../plugins/supervisor-types.ts';
import type { RecordedExecution } from '../../replay/recorded-execution.ts';
import { findRecordedTool, serveAside } from '../../replay/replay-code.ts';
import type { PluginFault } from '../../typescript/check-types.ts';
import type { ServedUnit } from '../../units/unit.ts';
import { classifyDiagnostic, classifyExecution } from '../failures/classify-failure.ts';
import { compareManifests } from './compare-manifests.ts';
import { failed, notTried, passed, type TrialCheck, type TrialReport, type TrialRequest, type TryProposal } from './trial.ts';
import { createTrialWorlds } from './trial-world.ts';
import { createTryCalls, type TryCallParts, type TryCalls } from './try-calls.ts';
import { tryExamples, tryHealth, tryOwnExamples } from './try-checks.ts';

/** A fault of the types of a plugin, as far as a trial wants to know. */
export type TypeFault = Pick<PluginFault, 'code' | 'message' | 'isSyntax'>;

/** What trials are made of. */
export interface TrialParts extends TryCallParts {
  readonly config: Pick<Config, 'dataDir' | 'kv' | 'files'>;
  readonly plugins: Pick<PluginSupervisor, 'proposeFiles'>;
  readonly decideGrants: (asking: Asking) => GrantDecision;
  /** The faults of the types of a plugin with these texts in place of those on the disk; undefined when nobody can tell. */
  readonly findTypeFaults: (
    source: PluginSource,
    texts: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ) => Promise<readonly TypeFault[] | undefined>;
  /**
   * Texts by real path with which the health check of a generation is asked about changed texts: none where the change left the check
   * alone, undefined when nobody can tell.
   */
  readonly restoreHealthcheck: (
    source: PluginSource,
    generation: Generation,
    texts: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, string> | undefined>;
  /** How long a trial may take in all. */
  readonly maxTrialMs: () => number;
  /** A recorded call by its id; undefined when it cannot be replayed. */
  readonly readRecorded: (executionId: string) => Promise<RecordedExecution | undefined>;
  /** Ids of successful calls of a generation, newest first. */
  readonly listSuccesses: (generation: Generation, limit: number) => readonly string[];
}

type Name = TrialCheck['name'];
const maxEarlierCalls = 12;

/** Creates trials. */
export function createTryProposal(parts: TrialParts): TryProposal {
  return async (whole) => {
    const maxMs = parts.maxTrialMs();
    const over = AbortSignal.timeout(maxMs);
    const request = { ...whole, signal: AbortSignal.any([whole.signal, over]) };
    const { source, proposal, signal } = request;
    const typesBefore = parts.findTypeFaults(source, new Map(), signal);
    typesBefore.catch(() => {});
    let release = () => {};
    try {
      const building = parts.plugins.proposeFiles(source, proposal.files, signal);
      // A module that is evaluated goes on to its own limit: nobody waits for that.
      building.then(
        (late) => signal.aborted && late.release(),
        () => {},
      );
      const built = await raceAbort(building, signal);
      if (!built.generation) return describeUnbuilt(request, built.diagnostic);
      release = built.release;
      const report = await tryBuilt(parts, request, built, typesBefore);
      return { ...report, candidate: { build: built.build, release } };
    } catch (error) {
      release();
      whole.signal.throwIfAborted();
      if (!over.aborted) throw error;
      return { verdict: 'not-mended', checks: [failed('time', `It could not be tried within ${maxMs} ms (repair.trialMs).`)] };
    }
  };
}

function describeUnbuilt({ source, diagnosed, failure }: TrialRequest, diagnostic: UnsavedBuild['diagnostic']): TrialReport {
  if (diagnostic === undefined) throw new Error('a build without an outcome');
  const { code, message } = diagnostic;
  const judged = classifyDiagnostic(source.path, diagnostic);
  const isCompiled = 'failure' in judged && judged.failure.class !== 'does-not-compile';
  const asksForEngine = code === 'engine-pending' || code === 'engine-refused';
  const detail = `${message}`.slice(0, 2000);
  const checks: TrialCheck[] = isCompiled
    ? [passed('compiles', 'It compiles.'), failed('shape', detail)]
    : [failed('compiles', detail)];
  if (asksForEngine) return { verdict: 'asks-for-more', checks };
  const wasBuilt = diagnosed !== undefined && failure.executionId !== undefined;
  return { verdict: wasBuilt ? 'worse' : 'not-mended', checks };
}

async function tryBuilt(
  parts: TrialParts,
  request: TrialRequest,
  { generation, build }: Extract<UnsavedBuild, { generation: Generation }>,
  typesBefore: Promise<readonly TypeFault[] | undefined>,
): Promise<TrialReport> {
  const { diagnosed, proposal, signal, failure } = request;
  const measured = diagnosed ?? generation;
  const { granted } = parts.decideGrants(measured);
  const candidate = serveAside(generation, () => granted);
  const before = diagnosed && serveAside(diagnosed, () => granted);
  // Values and files of a trial are its own: what is new has those that it asks for, so that its examples can be tried.
  const isNew = failure.key === 'creation';
  const worlds = createTrialWorlds(parts.config, isNew ? build.manifest.permissions : granted);
  const calls = createTryCalls(parts, worlds, signal);
  const checks: TrialCheck[] = [passed('compiles', 'It compiles.'), passed('shape', 'It loads, and its manifest is valid.')];
  let wasMended = isFailureOfBuild(failure.class);
  try {
    checks.push(await checkTypes(parts, request, typesBefore));
    const change = diagnosed && compareManifests(diagnosed.manifest, build.manifest);
    checks.push(checkThat('tools', change?.lost, 'It brings the same tools.'));
    const recorded = diagnosed ? await readSuccesses(parts, diagnosed) : [];
    const refused = before ? findRefused(parts, before, candidate, recorded) : undefined;
    checks.push(checkThat('schemas', change && [...change.narrowed, ...(refused ?? [])], 'They accept what they accepted.'));
    // Without a generation before there is nothing that anybody allowed; what surely was meant is asked for as if it had been saved.
    const pending = parts.decideGrants({ ...generation, author: 'operator' }).pending;
    const wants =
      change?.widened ?? (proposal.sureness === 'sure' || isNothing(pending) ? [] : ['It asks for what nobody has allowed.']);
    checks.push(checkThat('permissions', wants, 'It asks for nothing more.'));
    const isBroken = checks.some(({ name, outcome }) => outcome === 'failed' && (before !== undefined || name !== 'permissions'));
    // What is new has no other measure than what it says of itself.
    if (isNew && !isBroken) checks.push(await tryOwnExamples(calls, candidate));
    if (before && !isBroken) {
      const isExample = failure.tool !== undefined && failure.class === 'check-failed';
      const examples = await tryExamples(calls, before, candidate, isExample);
      checks.push(examples.check);
      const health = await tryHealth(calls, before, candidate, (run) => runWithHealthcheckOf(parts, request, measured, run));
      checks.push(health.check);
      if (failure.class === 'check-failed') wasMended = (failure.tool === undefined ? health : examples).wasMended;
      const failing = await tryFailingCall(parts, calls, candidate, request);
      if (failing) checks.push(failing);
      if (failing?.outcome === 'passed') wasMended = true;
      else if (failure.executionId !== undefined) wasMended = false;
      checks.push(await tryEarlierCalls(calls, before, candidate, recorded));
    }
    const more = change?.more ?? pending;
    return { verdict: decideVerdict(checks, wasMended), checks, ...(isNothing(more) ? {} : { more }) };
  } finally {
    await worlds.close();
  }
}

/** Builds the change once more with the health check of a generation, where the change has another one, for one run. */
async function runWithHealthcheckOf<Result>(
  parts: TrialParts,
  { source, proposal, signal }: TrialRequest,
  generation: Generation,
  run: (served: ServedUnit) => Promise<Result>,
): Promise<Result | 'the same' | 'unknown'> {
  const texts = await parts.restoreHealthcheck(source, generation, proposal.files, signal);
  if (texts?.size === 0) return 'the same';
  const built = texts && (await parts.plugins.proposeFiles(source, new Map([...proposal.files, ...texts]), signal));
  if (!built?.generation) return 'unknown';
  try {
    const { granted } = parts.decideGrants(generation);
    return await run(serveAside(built.generation, () => granted));
  } finally {
    built.release();
  }
}

/** What is lost counts first; a person is asked only about what mends otherwise, or cannot be tried without an answer. */
function decideVerdict(checks: readonly TrialCheck[], wasMended: boolean): TrialReport['verdict'] {
  const lost = checks.filter(({ outcome, name }) => outcome === 'failed' && name !== 'permissions' && name !== 'failing-call');
  if (lost.length > 0) return 'worse';
  if (checks.some(({ outcome, name }) => outcome === 'failed' && name === 'permissions')) return 'asks-for-more';
  return wasMended ? 'mended' : 'not-mended';
}

const isFailureOfBuild = (failureClass: TrialRequest['failure']['class']): boolean =>
  failureClass === 'does-not-compile' || failureClass === 'does-not-load' || failureClass === 'manifest-invalid';

async function checkTypes(
  parts: TrialParts,
  { source, proposal, signal }: TrialRequest,
  typesBefore: Promise<readonly TypeFault[] | undefined>,
): Promise<TrialCheck> {
  const before = await typesBefore;
  if (before === undefined) return notTried('types', 'The types of the plugin are not known.');
  if (before.some(({ isSyntax }) => isSyntax)) return notTried('types', 'Before the change the text could not be parsed.');
  const after = await parts.findTypeFaults(source, proposal.files, signal);
  if (after === undefined) return notTried('types', 'The types of the change are not known.');
  const known = new Set(before.map(({ code, message }) => `${code} ${message}`));
  const added = after.find(({ code, message }) => !known.has(`${code} ${message}`));
  if (added === undefined || after.length < before.length)
    return passed('types', `${after.length} faults of types, before ${before.length}.`);
  return failed('types', `TS${added.code}: ${added.message}`);
}

async function readSuccesses(parts: TrialParts, generation: Generation): Promise<RecordedExecution[]> {
  const recorded = await Promise.all(parts.listSuccesses(generation, maxEarlierCalls).map(parts.readRecorded));
  return recorded.filter((each) => each !== undefined);
}

/** Arguments that were accepted, and are not any more. */
function findRefused(
  { prepare }: TrialParts,
  before: ServedUnit,
  candidate: ServedUnit,
  recorded: readonly RecordedExecution[],
): string[] {
  const accepted = [
    ...recorded.map(({ execution: { tool, arguments: args } }) => ({ tool, args })),
    ...before.unit.manifest.tools.flatMap(({ name: tool, examples }) => examples.map(({ args }) => ({ tool, args }))),
  ];
  return accepted.flatMap(({ tool, args }) => {
    const [was, now] = [findRecordedTool(before, tool), findRecordedTool(candidate, tool)];
    if (!was || !now) return [];
    const length = JSON.stringify(args)?.length ?? 0;
    if (prepare(was).input.findIssues(args, length) !== undefined) return [];
    const issues = prepare(now).input.findIssues(args, length);
    return issues === undefined ? [] : [`${tool} refuses arguments that it accepted: ${JSON.stringify(args)?.slice(0, 200)}.`];
  });
}

/** Errors of the code itself: another one in place of the failure mends nothing. */
const programErrors: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);

async function tryFailingCall(
  parts: TrialParts,
  calls: TryCalls,
  candidate: ServedUnit,
  { failure, source }: TrialRequest,
): Promise<TrialCheck | undefined> {
  if (failure.executionId === undefined) return undefined;
  const recorded = await parts.readRecorded(failure.executionId);
  if (recorded === undefined)
    return notTried('failing-call', 'The call that failed cannot be replayed: its recording is not there.');
  const { end, wasRefused } = await calls.replay(candidate, recorded);
  if (end.status === 'success') return passed('failing-call', 'The call that failed goes well.');
  const said = `${end.error?.name === undefined ? '' : `${end.error.name}: `}${end.error?.message ?? end.status}`;
  const ended = { ...recorded.execution, status: end.status, ...omitUndefined({ error: end.error }) };
  const judged = classifyExecution(source.path, ended);
  if ('failure' in judged && judged.failure.key === failure.key)
    return failed('failing-call', `The call fails as before: ${said}`);
  if (wasRefused) return notTried('failing-call', `It asks for what was not recorded, so nobody can tell: ${said}`);
  const isOfCode = programErrors.has(end.error?.name ?? '') || ('failure' in judged && judged.failure.class === 'limit-reached');
  // Of an error that the plugin throws itself another wording mends nothing.
  const wasThrown = failure.class === 'runtime-error' && !programErrors.has(recorded.execution.error?.name ?? '');
  if (isOfCode || wasThrown) return failed('failing-call', `The call fails otherwise: ${said}`);
  return passed('failing-call', `The call ends with another error, which the plugin throws itself: ${said}`);
}

async function tryEarlierCalls(
  calls: TryCalls,
  before: ServedUnit,
  candidate: ServedUnit,
  recorded: readonly RecordedExecution[],
): Promise<TrialCheck> {
  let same = 0;
  for (const each of recorded) {
    const now = await calls.replay(candidate, each);
    if (now.difference === undefined) {
      same++;
      continue;
    }
    // What does not come to the same on the same code says nothing of the change.
    const was = await calls.replay(before, each);
    if (was.difference === undefined) return failed('earlier-calls', `${each.execution.id}: ${now.difference}`);
  }
  if (same > 0) return passed('earlier-calls', `${same} come to the same.`);
  return notTried('earlier-calls', 'There is no recording of one that would tell.');
}

function checkThat(name: Name, faults: readonly string[] | undefined, detail: string): TrialCheck {
  if (faults === undefined) return notTried(name, 'There is no generation to compare with.');
  return faults.length === 0 ? passed(name, detail) : failed(name, faults.join(' ').slice(0, 2000));
}
