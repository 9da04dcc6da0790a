import { operatorCaller } from '../../callers/caller.ts';
import { createExecutionIds } from '../../calls/record/execution-id.ts';
import type { Engines } from '../../calls/runner.ts';
import { omitUndefined } from '../../config/json-object.ts';
import type { RunOutcome } from '../../engines/engine.ts';
import { compareEnds, findDifference } from '../../replay/describe-replay.ts';
import type { AskedOtherwise } from '../../replay/recorded-answers.ts';
import type { RecordedExecution } from '../../replay/recorded-execution.ts';
import { findRecordedTool } from '../../replay/replay-code.ts';
import type { ReplayEnd } from '../../replay/replay-types.ts';
import { endOf, type RunRecorded } from '../../replay/replays.ts';
import { runEarlier } from '../../replay/run-earlier.ts';
import type { PreparedTool } from '../../tools/prepared-tool.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { ServedUnit } from '../../units/unit.ts';
import type { TrialWorlds } from './trial-world.ts';

/** What runs calls of a trial. */
export interface TryCallParts {
  readonly engines: Engines;
  readonly prepare: (entry: ToolEntry) => PreparedTool;
  readonly runRecorded: RunRecorded;
  /** Whether an operation leaves a trace outside of the plugin. */
  readonly leavesTrace: (operation: string) => boolean;
}

/** How a recorded call ends on other code. */
export interface ReplayedCall {
  readonly end: ReplayEnd;
  /** Where it ends otherwise than recorded, or leaves other traces; absent when neither. */
  readonly difference?: string;
  /** It asked for what neither the recording nor a trial has. */
  readonly wasRefused: boolean;
}

/** How an example or a health check came out. */
export interface TriedRun {
  /** What went wrong; absent when it passed. */
  readonly fault?: string;
  readonly wasRefused: boolean;
}

const nextId = createExecutionIds(Date.now);

/** Runs what shows whether a plugin works. */
export type TryCalls = ReturnType<typeof createTryCalls>;

/** Creates the runs of one trial. Calls look like those of anybody: their ids, callers, time and chance are the usual ones. */
export function createTryCalls(parts: TryCallParts, worlds: TrialWorlds, signal: AbortSignal) {
  async function run(served: ServedUnit, entry: ToolEntry, call: { readonly args?: unknown; readonly hook?: 'healthcheck' }) {
    const { unit } = served;
    const { runner } = unit;
    const engine = runner.by === 'engine' ? parts.engines[runner.engine] : undefined;
    if (runner.by !== 'engine' || engine === undefined) return undefined;
    const facts = { executionId: nextId(), caller: operatorCaller.id, session: 'local' };
    const world = worlds.open({ ...facts, plugin: unit.manifest.name, tool: entry.name, unitPath: unit.path });
    const { outcome } = await runEarlier({
      ...facts,
      engine,
      program: runner.program,
      handler: entry.manifest.handler,
      ...(call.hook && { hook: call.hook }),
      argumentsJson: JSON.stringify(call.args ?? {}),
      limits: parts.prepare(entry).limits,
      holder: { callerId: operatorCaller.id, unitPath: unit.path, isAdmin: true },
      recording: undefined,
      answerUnforeseen: world.answer,
      signal,
    }).finally(world.clear);
    return { outcome, wasRefused: world.refusals() > 0 };
  }

  return {
    async replay(served: ServedUnit, recorded: RecordedExecution): Promise<ReplayedCall> {
      const { execution } = recorded;
      const entry = findRecordedTool(served, execution.tool);
      if (entry === undefined) return { end: { status: 'error' }, difference: 'The tool is gone.', wasRefused: false };
      const { id: executionId, plugin, tool, caller, session } = execution;
      const world = worlds.open({ executionId, plugin, tool, caller, session, unitPath: served.unit.path });
      const { end, run } = await parts
        .runRecorded(recorded, entry, { holder: operatorCaller, signal, answerUnforeseen: world.answer })
        .finally(world.clear);
      const difference = compareEnds(endOf(execution), end) ?? findOtherTrace(run, parts.leavesTrace);
      return { end, ...omitUndefined({ difference }), wasRefused: world.refusals() > 0 };
    },
    async example(
      served: ServedUnit,
      tool: string,
      { args, expect }: { readonly args: unknown; readonly expect?: unknown },
    ): Promise<TriedRun> {
      const entry = findRecordedTool(served, tool);
      if (entry === undefined) return { fault: `The tool "${tool}" is gone.`, wasRefused: false };
      const result = await run(served, entry, { args });
      return { ...judge(result?.outcome, expect), wasRefused: result?.wasRefused ?? true };
    },
    async healthcheck(served: ServedUnit): Promise<TriedRun> {
      const [tool] = served.unit.manifest.tools;
      const entry = tool && findRecordedTool(served, tool.name);
      const result = entry && (await run(served, entry, { hook: 'healthcheck' }));
      const judged = judge(result?.outcome, undefined);
      const isUnwell = result?.outcome.status === 'success' && result.outcome.output === false;
      return { ...judged, ...(isUnwell && { fault: 'It answered false.' }), wasRefused: result?.wasRefused ?? true };
    },
  };
}

function judge(outcome: RunOutcome | undefined, expected: unknown): { readonly fault?: string } {
  if (outcome === undefined) return { fault: 'Its engine is not there.' };
  if (outcome.status !== 'success') return { fault: `${outcome.error.code}: ${outcome.error.message}` };
  const difference = expected === undefined ? undefined : findDifference(expected, outcome.output);
  return difference === undefined ? {} : { fault: difference.replace('recorded was', 'expected was') };
}

/** The output may be the same, and what was done another. */
function findOtherTrace(
  { unforeseen, missing }: AskedOtherwise,
  leavesTrace: (operation: string) => boolean,
): string | undefined {
  // To read on, or to let go, is part of the request that was made.
  const isTrace = (op: string): boolean => leavesTrace(op) && !op.startsWith('fetch.');
  const other = unforeseen.find(({ op }) => isTrace(op));
  if (other) return `It does ${other.op}, which it did not.`;
  const left = missing.find(({ op }) => isTrace(op));
  return left && `It does not do ${left.op} any more, which it did.`;
}
