/** What fetch asks of the host, the same in a cell and in a process. */
import { askCancellable, type HostAnswer } from './border.ts';

/** What the host answers to fetch beside the bytes of the body. */
export interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  readonly url: string;
  readonly redirected: boolean;
  readonly truncated?: boolean;
  /** The body goes on: what came is its beginning. */
  readonly stream?: string;
}

/** The signal of a request: the cell brings its own, a process has that of its platform. */
interface FetchSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Asks the host; rejects with the reason of the signal if that comes first: then the host ends the request. */
export function askUntilAborted(op: string, question: object, signal: FetchSignal, body?: ArrayBuffer): Promise<HostAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const { answer, cancel } = askCancellable(op, JSON.stringify(question), body);
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    answer
      .then(resolve, (error: unknown) => reject(signal.aborted ? error : asTypeError(error)))
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The web says that a failed fetch is a TypeError; the sentence and code of the host stay. */
function asTypeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return Object.assign(new TypeError(error.message, { cause: error }), { code, stack: error.stack });
}
