/**
 * The guest's side of the border. `host` is the one import of the sandbox; it is captured here and taken off the
 * global object before any plugin code runs. Operations that the host answers at once return; the others settle later.
 */

/** Text (usually JSON) and, where an operation carries raw bytes, an ArrayBuffer. */
export interface HostAnswer {
  readonly payload: string;
  readonly body?: ArrayBuffer | undefined;
}

type HostImport = (op: string, id: number, payload: string, body?: ArrayBuffer) => string | ArrayBuffer | undefined;

interface Waiting {
  readonly resolve: (message: HostAnswer) => void;
  readonly reject: (reason: unknown) => void;
  /** Where the question was asked: a refusal comes later, when the plugin's own lines have left the stack. */
  readonly origin: Error | undefined;
}

/** A question that can be taken back. */
export interface OpenAsk {
  readonly answer: Promise<HostAnswer>;
  /** Ends the work behind it at the host; without effect once it is answered. The answer then never settles. */
  readonly cancel: () => void;
}

declare const host: HostImport;

const hostImport: HostImport = host;
// Intrinsics are taken now, so that a plugin that changes prototypes cannot change what the border does.
const GuestPromise = Promise;
const GuestError = Error;
const GuestMap = Map;
const promiseThen = Promise.prototype.then;

let waiting = new GuestMap<number, Waiting>();
let nextId = 1;

/** Asks for something that the host answers at once. Throws what the host refuses. */
export function askNow(op: string, payload: string, body?: ArrayBuffer): string | ArrayBuffer | undefined {
  return hostImport(op, 0, payload, body);
}

/** Asks for something that takes time. Rejects with an Error that carries the host's `code`. */
export function ask(op: string, payload: string, body?: ArrayBuffer): Promise<HostAnswer> {
  return askCancellable(op, payload, body).answer;
}

/** The same, with a way to take the question back. */
export function askCancellable(op: string, payload: string, body?: ArrayBuffer): OpenAsk {
  const id = nextId++;
  const origin = new GuestError();
  const answer = new GuestPromise<HostAnswer>((resolve, reject) => {
    waiting.set(id, { resolve, reject, origin });
    try {
      hostImport(op, id, payload, body);
    } catch (error) {
      waiting.delete(id);
      reject(placed(error, origin));
    }
  });
  return { answer, cancel: () => takeBack(id) };
}

function takeBack(id: number): void {
  if (waiting.delete(id)) tell('cancel', String(id));
}

/** Has the host wait so long, then `ring` is run as a job. Throws what the host refuses. */
export function setAlarm(ms: number, ring: () => void): Pick<OpenAsk, 'cancel'> {
  const id = nextId++;
  hostImport('timer', id, `{"ms":${ms}}`);
  const answer = new GuestPromise<HostAnswer>((resolve, reject) => waiting.set(id, { resolve, reject, origin: undefined }));
  promiseThen.call(answer, ring);
  return { cancel: () => takeBack(id) };
}

/** Tells the host something that needs no answer. */
export function tell(op: string, payload: string, body?: ArrayBuffer): void {
  hostImport(op, 0, payload, body);
}

/** Called by the host with the answer to `ask`. */
export function settle(id: number, ok: boolean, payload: string, body?: ArrayBuffer): void {
  const entry = waiting.get(id);
  if (!entry) return;
  waiting.delete(id);
  if (ok) {
    entry.resolve({ payload, body });
    return;
  }
  entry.reject(refusal(payload, entry.origin));
}

/** Forgets every pending question: the call that asked has ended. */
export function forgetWaiting(): void {
  waiting = new GuestMap();
}

/** The error that a refused operation throws; `payload` is `{code, message}`. */
function refusal(payload: string, origin: Error | undefined): Error {
  const { code, message } = JSON.parse(payload) as { code: string; message: string };
  const error = new GuestError(message) as Error & { code: string };
  error.code = code;
  return placed(error, origin);
}

/** The error with the stack of the place where the question was asked. */
function placed<Thrown>(error: Thrown, origin: Error | undefined): Thrown {
  if (error instanceof GuestError && typeof origin?.stack === 'string') error.stack = origin.stack;
  return error;
}
