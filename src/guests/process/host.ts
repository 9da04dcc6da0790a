/**
 * The one import of the guest's code, for a guest that is a process of its own: what QuickJS gets from its host comes here
 * over a channel. Importing this file puts `host` where `src/guests/cell/border.ts` takes it from, so it stands first.
 */
import { setImmediate } from 'node:timers';
import { encodeFrame } from './frames.ts';

interface View {
  readonly config: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  readonly denied: Readonly<Record<string, string>>;
}

let view: View = { config: {}, env: {}, denied: {} };
let isLoading = true;
let write: (bytes: Uint8Array) => void = () => {};

/** Says where messages go. */
export function connectHost(send: (bytes: Uint8Array) => void): void {
  write = send;
}

/** Says what settings may be read now. */
export function setView(next: View): void {
  view = next;
}

/** Starts counting what a call may tell. */
export function limitTelling(lines: number): void {
  told.log = lines + 1;
  told.progress = lines;
  told.denied = 100;
}

/** While a plugin loads it has no capability. */
export function setLoading(loading: boolean): void {
  isLoading = loading;
}

/** Sends one message. */
export function send(header: object, text?: string, body?: ArrayBuffer | Uint8Array): void {
  write(encodeFrame(header, text, body instanceof ArrayBuffer ? new Uint8Array(body) : body));
}

/** Throws while the plugin loads. */
export function mayDial(): void {
  if (isLoading) throw unavailable('The network');
}

// Messages without an answer, and how many of each are left. The daemon counts too, and ends a guest that sends more.
const told: Record<string, number> = {
  loaded: 1,
  return: Number.POSITIVE_INFINITY,
  throw: Number.POSITIVE_INFINITY,
  log: 1000,
  progress: 1000,
  denied: 100,
};

(globalThis as { host?: unknown }).host = (op: string, id: number, payload: string, body?: ArrayBuffer) => {
  if (Object.hasOwn(told, op)) tell(op, payload);
  else if (op === 'clock') return String(Date.now());
  else if (op === 'cancel') send({ t: op, id: Number(payload) });
  else if (op === 'config.get' || op === 'env.get') return readView(op, payload);
  else if (op === 'env.names') return JSON.stringify(Object.keys(view.env));
  else if (id === 0) throw refusal('not-supported', `"${op}" is not known.`);
  else if (isLoading) throw unavailable(`"${op}"`);
  else send({ t: 'ask', id, op }, payload, body);
  return undefined;
};

/** A runtime tells of unhandled rejections once the promises of this turn are done: the end of a call comes after that. */
const afterThisTurn = setImmediate;

function tell(op: string, payload: string): void {
  const left = told[op] ?? 0;
  if (left <= 0) return;
  told[op] = left - 1;
  if (op === 'return' || op === 'throw') afterThisTurn(() => send({ t: op }, payload));
  else send({ t: op }, payload);
}

function readView(op: string, key: string): string | undefined {
  const fromConfig = op === 'config.get' && Object.hasOwn(view.config, key) ? view.config[key] : undefined;
  const value = fromConfig ?? (Object.hasOwn(view.env, key) ? view.env[key] : undefined);
  if (value === undefined && Object.hasOwn(view.denied, key)) {
    tell('denied', key);
    throw refusal('permission-denied', String(view.denied[key]));
  }
  return value === undefined ? undefined : JSON.stringify(value);
}

function unavailable(what: string): Error {
  return refusal('not-supported', `${what} is not available while the plugin loads. Use it in the handler or in onStart.`);
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
