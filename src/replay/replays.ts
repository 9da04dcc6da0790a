import type { BorderAnswer, BorderRequest, LogLine } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { Execution, ExplainGuestError } from '../calls/call-types.ts';
import { endWithError } from '../calls/record/call-end.ts';
import { showError } from '../calls/record/execution-reader.ts';
import { redactEnd, redactLine } from '../calls/record/redact-record.ts';
import type { Engines } from '../calls/runner.ts';
import { createPlaceCount } from '../concurrency/place-count.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { PreparedTool } from '../tools/prepared-tool.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import { sayIssue } from '../tools/validation/schema-issue.ts';
import { compareEnds, describeAsked, describeBounds } from './describe-replay.ts';
import type { AnswerUnforeseen } from './recorded-answers.ts';
import { notReplayable, type RecordedExecution } from './recorded-execution.ts';
import type { ChosenCode } from './replay-code.ts';
import type { ReplayEnd, ReplayReport, Replays } from './replay-types.ts';
import { type EarlierRunResult, runEarlier } from './run-earlier.ts';

/** What replays are made of. */
export interface ReplayParts {
  readonly engines: Engines;
  readonly readRecorded: (id: string, caller: Caller) => Promise<RecordedExecution>;
  /** Finds or builds the code to run on. */
  readonly chooseCode: (
    execution: Execution,
    on: { readonly generation?: string | undefined; readonly text?: string | undefined },
    signal: AbortSignal,
  ) => Promise<ChosenCode>;
  readonly prepare: (entry: ToolEntry) => PreparedTool;
  readonly explainError: ExplainGuestError;
  readonly redactor: Redactor | undefined;
}

/** Runs a recorded execution on some code, and says how that ended. */
export type RunRecorded = (
  recorded: RecordedExecution,
  entry: ToolEntry,
  how: { readonly holder: Caller; readonly signal: AbortSignal; readonly answerUnforeseen?: AnswerUnforeseen },
) => Promise<{ readonly end: ReplayEnd; readonly run: EarlierRunResult; readonly logs: readonly LogLine[] }>;

/** The refusal of what the recording does not know reads as one of a permission: code must not do otherwise because it is watched. */
export async function refuseUnforeseen({ op }: Pick<BorderRequest, 'op'>): Promise<BorderAnswer> {
  return { ok: false, code: 'permission-denied', message: `The call may not use "${op.slice(0, 80)}".` };
}

/** Creates what runs recorded executions on any code, for replays and for trials. */
export function createRunRecorded(parts: Pick<ReplayParts, 'engines' | 'prepare' | 'explainError' | 'redactor'>): RunRecorded {
  const { redactor, prepare } = parts;

  async function describeEnd(
    { outcome, isRecordingOver }: EarlierRunResult,
    entry: ToolEntry,
    then: ReplayEnd,
  ): Promise<ReplayEnd> {
    // It waits where the recorded call was cut off.
    if (isRecordingOver && then.status !== 'success') return then;
    if (outcome.status !== 'success') {
      const { status, error } = outcome;
      return { status, error: await parts.explainError(error, entry.served.unit) };
    }
    const { output } = outcome;
    const json = outcome.outputJson ?? JSON.stringify(output) ?? '';
    const issues = prepare(entry).output?.findIssues(output, json.length);
    if (issues === undefined) return { status: 'success', output };
    const message = `The output does not fit the output schema of ${entry.name}: ${issues.map(sayIssue).join('; ')}.`;
    return endOf(endWithError('error', { code: 'output-invalid', message }));
  }

  return async ({ execution, recording }, entry, { holder, signal, answerUnforeseen = refuseUnforeseen }) => {
    const { runner, path: unitPath } = entry.served.unit;
    if (runner.by === 'daemon')
      throw notReplayable(`"${entry.name}" is carried out by the daemon itself: there is no code to run.`);
    if (runner.prepare) throw notReplayable(`What "${entry.name}" runs is put together for each call, and is not recorded.`);
    const engine = parts.engines[runner.engine];
    if (engine === undefined) throw notReplayable(`The engine "${runner.engine}" is not there.`);
    const run = await runEarlier({
      engine,
      program: runner.program,
      handler: entry.manifest.handler,
      executionId: execution.id,
      caller: execution.caller,
      session: execution.session,
      argumentsJson: JSON.stringify(execution.arguments),
      limits: prepare(entry).limits,
      holder: { callerId: holder.id, unitPath, isAdmin: holder.role === 'admin' },
      recording,
      answerUnforeseen,
      signal,
    });
    const end = redactEnd(await describeEnd(run, entry, endOf(execution)), redactor);
    return { end: endOf(end), run, logs: run.logs.map((line) => redactLine(line, redactor)) };
  };
}

/** Creates the operation behind `hotcell replay`. */
export function createReplays(parts: ReplayParts): Replays {
  const places = createPlaceCount(quotas['replay.running']);
  const runRecorded = createRunRecorded(parts);

  return {
    async replay(id, on, { caller, signal }) {
      if (caller.role !== 'admin' && (on.generation !== undefined || on.text !== undefined)) {
        throw new HotcellError(
          'forbidden',
          'A caller replays its executions on the code that serves now; to choose another is for admins.',
        );
      }
      const recorded = await parts.readRecorded(id, caller);
      const { execution, recording } = recorded;
      const holder = { callerId: caller.id, unitPath: execution.plugin, isAdmin: caller.role === 'admin' };
      const full = places.findFull(holder);
      if (full !== undefined) throw new HotcellError('queue-full', `${full.calls} are replayed already.`);
      const place = places.take(holder);
      try {
        const chosen = await parts.chooseCode(execution, on, signal);
        const startedMs = performance.now();
        const { end, run, logs } = await runRecorded(recorded, chosen.entry, { holder: caller, signal }).finally(chosen.release);
        const then = endOf(execution);
        const isOutputCut = execution.cut?.output !== undefined;
        const difference = compareEnds(then, isOutputCut ? cutLike(then, end) : end);
        const { unit } = chosen.entry.served;
        const engine = unit.runner.by === 'engine' ? unit.runner.engine : 'daemon';
        const hasRedacted = JSON.stringify([execution.arguments, recording.crossings]).includes('[secret ');
        const { isolation } = unit.manifest;
        return {
          executionId: id,
          tool: execution.tool,
          contentHash: unit.contentHash,
          isSameCode: chosen.isSameCode,
          engine,
          same: difference === undefined,
          ...(difference !== undefined && { difference }),
          recorded: forCaller(then, caller, id),
          now: forCaller(end, caller, id),
          asked: describeAsked(run),
          notes: describeBounds({ recording, engine, isolation, hasRedacted, isOutputCut }),
          logs,
          durationMs: Math.round((performance.now() - startedMs) * 1000) / 1000,
        } satisfies ReplayReport;
      } finally {
        place.leave();
      }
    },
  };
}

/** The end of a call by its record. */
export function endOf({ status, output, error }: Pick<Execution, 'status' | 'output' | 'error'>): ReplayEnd {
  const ended = status === 'pending' || status === 'running' ? 'error' : status;
  return { status: ended, ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
}

/** The record has the beginning of a long output as text. */
function cutLike({ output: cut }: ReplayEnd, end: ReplayEnd): ReplayEnd {
  if (end.status !== 'success' || typeof cut !== 'string') return end;
  return { ...end, output: `${JSON.stringify(end.output).slice(0, cut.length - 1)}…` };
}

function forCaller(end: ReplayEnd, caller: Caller, id: string): ReplayEnd {
  return end.error === undefined ? end : { ...end, error: showError(end.error, caller, id) };
}
