import type { Recording } from '../../border/border.ts';
import type { Redactor } from '../../secrets/secret-types.ts';
import type { Store } from '../../store/store-types.ts';
import { decodeRecording, encodeRecording } from './recording-codec.ts';

/** A recording on its way to the store. */
interface WaitingRecording {
  readonly executionId: string;
  readonly tool: string;
  readonly status: string;
  readonly recording: Recording;
  readonly createdAtMs: number;
}

const flushAfterMs = 250;
/** A burst of failures beyond this keeps its newest recordings; the records themselves are all there. */
const maxWaitingFailures = 500;

/** Keeps recordings: of failed executions all, of successful ones the newest few a tool. */
export type RecordingKeeper = ReturnType<typeof createRecordingKeeper>;

/**
 * Creates the keeper of recordings. A recording that waits (at most 250 ms) is lost when the daemon is killed; the record is not.
 * `onFault` hears of a recording that could not be packed or written.
 */
export function createRecordingKeeper(parts: {
  readonly store: Pick<Store, 'recordings'>;
  readonly keepPerTool: number;
  readonly maxBytes: number;
  readonly redactor?: Redactor | undefined;
  readonly onFault: (error: unknown) => void;
}) {
  const { store, keepPerTool, maxBytes, onFault } = parts;
  let failures: WaitingRecording[] = [];
  let successes = new Map<string, WaitingRecording[]>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function addBounded(list: WaitingRecording[], waiting: WaitingRecording, max: number): void {
    list.push(waiting);
    if (list.length > max) list.shift();
  }

  async function writeAll(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const written = [...failures, ...[...successes.values()].flat()];
    const tools = [...successes.keys()];
    failures = [];
    successes = new Map();
    try {
      for (const { recording, ...row } of written) {
        store.recordings.insert({ ...row, blob: await encodeRecording(recording, maxBytes, parts.redactor) });
      }
      for (const tool of tools) store.recordings.pruneSuccessful(tool, keepPerTool);
    } catch (error) {
      onFault(error);
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(writeAll);
    return flushing;
  }

  return {
    /** Costs next to nothing: packing and writing come later, and what newer successes push out is never packed. */
    keep(waiting: WaitingRecording): void {
      if (waiting.status === 'success') {
        if (keepPerTool <= 0) return;
        const list = successes.get(waiting.tool) ?? [];
        addBounded(list, waiting, keepPerTool);
        successes.set(waiting.tool, list);
      } else addBounded(failures, waiting, maxWaitingFailures);
      timer ??= setTimeout(() => void flush(), flushAfterMs).unref();
    },
    async read(executionId: string): Promise<Recording | undefined> {
      await flush();
      const blob = store.recordings.get(executionId);
      return blob === undefined ? undefined : decodeRecording(blob);
    },
    /** Writes what waits. */
    flush,
  };
}
