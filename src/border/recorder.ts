import type { BorderCrossing, Recording } from './border.ts';

/** Keeps what crosses the border during one call, within a bound. */
export interface Recorder {
  add(crossing: BorderCrossing): void;
  recording(): Recording;
}

const maxRecordingBytes = 1024 * 1024;
/** What a crossing takes beside its texts. */
const crossingBytes = 100;

/** Makes the recorder of one call; what does not fit is left out, and the recording says so. */
export function createRecorder(facts: { readonly seed: string; readonly startedAtMs: number }): Recorder {
  const crossings: BorderCrossing[] = [];
  let bytesLeft = maxRecordingBytes;
  let complete = true;
  return {
    add(crossing) {
      const { op, payload, answer } = crossing;
      const answered = answer.ok ? answer.payload.length + (answer.body?.length ?? 0) : answer.message.length;
      const bytes = crossingBytes + op.length + payload.length + answered;
      if (bytes > bytesLeft) {
        complete = false;
        return;
      }
      bytesLeft -= bytes;
      crossings.push(crossing);
    },
    recording: () => ({ ...facts, crossings, complete }),
  };
}
