import type { BorderCrossing, BorderView, Recording } from './border.ts';

/** What a recorder had taken when its call was taken out of its engine. */
export interface KeptRecording {
  readonly crossings: readonly BorderCrossing[];
  readonly recordingBytes: number;
  readonly recordingComplete: boolean;
}

const maxRecordingBytes = 1024 * 1024;
/** What a crossing takes beside its texts. */
const crossingBytes = 100;

/** The settings that a guest gets all at once, as a crossing; undefined when there are none. */
export function recordView(view: BorderView): BorderCrossing | undefined {
  const payload = JSON.stringify(view);
  return payload === emptyView ? undefined : { id: 0, op: 'view', payload: '', answer: { ok: true, payload } };
}

const emptyView = JSON.stringify({ config: {}, env: {}, denied: {} } satisfies BorderView);

/** Keeps what crosses the border during one call, within a bound; what does not fit is left out, and the recording says so. */
export class Recorder {
  readonly #facts: Pick<Recording, 'seed' | 'startedAtMs'>;
  readonly #crossings: BorderCrossing[];
  #bytes: number;
  #isComplete: boolean;

  constructor(facts: Pick<Recording, 'seed' | 'startedAtMs'>, kept?: KeptRecording) {
    this.#facts = facts;
    this.#crossings = kept === undefined ? [] : [...kept.crossings];
    this.#bytes = kept?.recordingBytes ?? 0;
    this.#isComplete = kept?.recordingComplete ?? true;
  }

  add(crossing: BorderCrossing): void {
    const { op, payload, answer } = crossing;
    const answered = answer.ok ? answer.payload.length + (answer.body?.length ?? 0) : answer.message.length;
    const bytes = crossingBytes + op.length + payload.length + answered;
    if (this.#bytes + bytes > maxRecordingBytes) {
      this.#isComplete = false;
      return;
    }
    this.#bytes += bytes;
    this.#crossings.push(crossing);
  }

  /** Something crossed that no recording can hold. */
  leaveOut(): void {
    this.#isComplete = false;
  }

  recording(): Recording {
    return { ...this.#facts, crossings: this.#crossings, complete: this.#isComplete };
  }

  /** What another recorder goes on from. */
  keep(): KeptRecording {
    return { crossings: [...this.#crossings], recordingBytes: this.#bytes, recordingComplete: this.#isComplete };
  }
}
