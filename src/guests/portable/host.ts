/**
 * The host that guests/cell expects, inside the module itself: what the daemon answers over the border is answered here,
 * by the functions of any Extism host or by plain code, and what needs a daemon is refused by name.
 */
import { askDaemon, type CallFacts, type DaemonAnswer, tellDenied } from './daemon.ts';
import { sendRequest } from './fetch.ts';
import { extism } from './host-calls.ts';
import { kvAnswers } from './kv.ts';
import { formatValue } from './locale.ts';
import { findPartAnswer } from './parts.ts';
import { randomAnswers } from './random.ts';
import { makeRefusal, refuseInModule } from './refusal.ts';
import { moduleTextAnswers } from './text.ts';

type Answer = string | ArrayBuffer | undefined;
type Settle = (id: number, ok: boolean, payload: string, body?: ArrayBuffer) => void;

/** How a call, or the load, ended. */
export interface End {
  readonly kind: 'loaded' | 'return' | 'throw';
  /** JSON: the manifest as data, the result, or what was thrown. */
  readonly payload: string;
}

const { now } = Date;
const answersNow: Readonly<Record<string, (payload: string, body: Uint8Array) => Answer>> = {
  ...moduleTextAnswers,
  ...randomAnswers,
  clock: () => String(now()),
  module: (name) => lazyModules[name],
  'intl.value': formatValue,
  'config.get': (key) => (Object.hasOwn(facts.settings, key) ? JSON.stringify(facts.settings[key]) : readText(key)),
  'env.get': readText,
};

let lazyModules: Readonly<Record<string, string>> = {};
let settle: Settle = () => {};
let facts: Pick<CallFacts, 'settings' | 'denied'> = { settings: {}, denied: {} };
let isLoading = true;
/** The question for the next timer. */
let timer: number | undefined;
let end: End | undefined;

/** Hands over the texts of the lazy parts of the web API, and how the guest takes answers. */
export function connectGuest(guest: { lazyModules: Readonly<Record<string, string>>; settle: Settle }): void {
  ({ lazyModules, settle } = guest);
}

/** From here on the plugin may use its context. */
export function startCall(known: Pick<CallFacts, 'settings' | 'denied'>): void {
  facts = known;
  isLoading = false;
  end = undefined;
}

/** How it ended, or undefined as long as it did not. */
export function readEnd(): End | undefined {
  return end;
}

/** Settles the timer that waits, as soon as nothing else is left to do: a module cannot wait. False when none does. */
export function endTimer(): boolean {
  if (timer === undefined) return false;
  const question = timer;
  timer = undefined;
  settle(question, true, '');
  return true;
}

/** Takes the guest's questions; put on the global object, where src/guests/cell/border.ts takes it from. */
export function host(op: string, id: number, payload: string, body?: ArrayBuffer): Answer {
  if (op === 'loaded' || op === 'return' || op === 'throw') end ??= { kind: op, payload };
  else if (op === 'log') writeLog(payload);
  else if (op === 'cancel') timer = Number(payload) === timer ? undefined : timer;
  else if (op === 'progress') return undefined;
  else if (id === 0) return answerNow(op, payload, body);
  else if (isLoading)
    throw makeRefusal('not-supported', `"${op}" is not available while the plugin loads. Use it in the handler or in onStart.`);
  else answerLater(op, id, payload, body);
  return undefined;
}

function answerNow(op: string, payload: string, body: ArrayBuffer | undefined): Answer {
  const isSetting = op === 'config.get' || op === 'env.get';
  if (isSetting && isLoading) return undefined;
  const answer = Object.hasOwn(answersNow, op) ? answersNow[op] : findPartAnswer(op);
  if (!answer) throw refuseInModule(op);
  return answer(payload, new Uint8Array(body ?? new ArrayBuffer(0)));
}

/** Everything but a timer is done at once: a module waits for its host. The guest has one timer at a time, and keeps their order. */
function answerLater(op: string, id: number, payload: string, body: ArrayBuffer | undefined): void {
  if (op === 'timer') {
    timer = id;
    return;
  }
  const answer = askDaemon(op, payload, body) ?? answerAlone(op, payload, body);
  if (answer.ok) settle(id, true, answer.payload, answer.body);
  else settle(id, false, JSON.stringify({ code: answer.code, message: answer.message }));
}

/** What needs no daemon. */
function answerAlone(op: string, payload: string, body: ArrayBuffer | undefined): DaemonAnswer {
  const kv = Object.hasOwn(kvAnswers, op) ? kvAnswers[op] : undefined;
  if (kv) return { ok: true, payload: JSON.stringify(kv(payload)) };
  if (op === 'fetch') return { ok: true, ...sendRequest(payload, body) };
  throw refuseInModule(op);
}

function writeLog(payload: string): void {
  const { level, text } = JSON.parse(payload);
  if (!isLoading) extism.log(level, text);
}

/** A setting that was not granted must not be asked for: the daemon would end the call. */
function readText(key: string): string | undefined {
  const refusal = Object.hasOwn(facts.denied, key) ? facts.denied[key] : undefined;
  if (refusal !== undefined) {
    tellDenied(key);
    throw makeRefusal('permission-denied', refusal);
  }
  const value = extism.config(key);
  return value === undefined ? undefined : JSON.stringify(value);
}
