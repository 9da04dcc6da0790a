import type { LogLine, Recording } from '../border/border.ts';
import type { Limits } from '../config/limits.ts';
import { Deadline } from '../engines/deadline.ts';
import type { Engine, RunOutcome, RunRequest } from '../engines/engine.ts';
import type { Holder } from '../queues/place-count.ts';
import { type AnswerUnforeseen, type AskedOtherwise, RecordedAnswers } from './recorded-answers.ts';

/** A run outside of the call journey: it has no record, no events, no hooks, and its own time and memory. */
export interface EarlierRunOrder extends Pick<RunRequest, 'program' | 'handler' | 'hook' | 'executionId' | 'caller' | 'session'> {
  readonly engine: Engine;
  readonly argumentsJson: string;
  readonly limits: Limits;
  readonly holder: Holder;
  /** Whose way it goes; without one it draws its own time and chance, and nothing is foreseen. */
  readonly recording: Recording | undefined;
  readonly answerUnforeseen: AnswerUnforeseen;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface EarlierRunResult extends AskedOtherwise {
  /** The run waited for what was never answered in the recorded call either, which ended so. */
  readonly isRecordingOver: boolean;
  readonly outcome: RunOutcome;
  readonly logs: readonly LogLine[];
}

/** Runs something in a fresh cell with recorded answers; nothing outside of the cell is touched. */
export async function runEarlier(order: EarlierRunOrder): Promise<EarlierRunResult> {
  const { engine, recording, limits, signal, answerUnforeseen, holder, argumentsJson } = order;
  const { program, handler, hook, executionId, caller, session } = order;
  const over = new AbortController();
  const host = new RecordedAnswers(recording?.crossings ?? [], {
    answerUnforeseen,
    tellsWaiting: engine.name === 'quickjs',
    onRecordingOver: () => over.abort(),
  });
  const request: RunRequest = {
    program,
    handler,
    ...(hook && { hook }),
    executionId,
    caller,
    session,
    argumentsJson,
    limits,
    holder,
    isolation: 'call',
    cellKey: '',
    deadline: new Deadline(limits.wallMs),
    earlier:
      recording === undefined
        ? { seed: '', startedAtMs: Date.now() }
        : {
            seed: recording.seed,
            startedAtMs: recording.startedAtMs,
            answered: recording.crossings.filter(({ id, op }) => id === 0 && op !== 'view'),
          },
  };
  const outcome = await engine.run(request, host, AbortSignal.any([signal, over.signal]));
  signal.throwIfAborted();
  return { outcome, logs: host.logs, isRecordingOver: over.signal.aborted, ...host.end() };
}
