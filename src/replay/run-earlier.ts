import type { LogLine, Recording } from '../border/border.ts';
import { Deadline } from '../engines/deadline.ts';
import type { Engine, RunOutcome, RunRequest } from '../engines/engine.ts';
import { type AnswerUnforeseen, type AskedOtherwise, RecordedAnswers } from './recorded-answers.ts';

/** A run outside of the call journey: it has no record, no events, no hooks, and its own time and memory. */
export interface EarlierRunOrder extends Omit<RunRequest, 'isolation' | 'cellKey' | 'deadline' | 'earlier'> {
  readonly engine: Engine;
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
  const { engine, recording, answerUnforeseen, signal, ...asked } = order;
  const over = new AbortController();
  const host = new RecordedAnswers(recording?.crossings ?? [], {
    answerUnforeseen,
    tellsWaiting: engine.name === 'quickjs',
    onRecordingOver: () => over.abort(),
  });
  const request: RunRequest = {
    ...asked,
    isolation: 'call',
    cellKey: '',
    deadline: new Deadline(asked.limits.wallMs),
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
