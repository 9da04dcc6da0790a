/**
 * The daemon, where there is one: it answers variables with certain names (src/engines/extism/worker/daemon-call.ts), so that a
 * module which imports nothing unusual has all of its context there. Every other host has no such variable.
 */
import { readBase64, writeBase64 } from './base64.ts';
import { extism } from './host-calls.ts';

const prefix = 'hotcell_call:';
const { parse, stringify } = JSON;

/** What the daemon said; `payload` is JSON text. */
export type DaemonAnswer =
  | { readonly ok: true; readonly payload: string; readonly body?: ArrayBuffer }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** What a daemon says of a call. */
export interface CallFacts {
  readonly executionId: string;
  readonly caller: string;
  readonly session: string;
  /** Settings that are no text. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Settings that were not granted, with the sentence that says so. */
  readonly denied: Readonly<Record<string, string>>;
}

let isAlone = false;

/** What there is to know of a call; outside a daemon next to nothing. */
export function readFacts(): CallFacts {
  const answer = askDaemon('facts', 'null', undefined);
  return answer?.ok ? parse(answer.payload) : { executionId: '', caller: 'local', session: 'local', settings: {}, denied: {} };
}

/** Asks the daemon; undefined in every other host. `payload` is JSON text. */
export function askDaemon(op: string, payload: string, body: ArrayBuffer | undefined): DaemonAnswer | undefined {
  if (isAlone) return undefined;
  const bytes = body === undefined ? '' : `,"body":${stringify(writeBase64(new Uint8Array(body)))}`;
  const text = extism.readVariable(`${prefix}{"op":${stringify(op)},"payload":${payload}${bytes}}`);
  isAlone = text === undefined;
  if (text === undefined) return undefined;
  const answer = parse(text);
  if (!answer.ok) return { ok: false, code: String(answer.code), message: String(answer.message) };
  const content = typeof answer.body === 'string' ? { body: readBase64(answer.body.replace(/=+$/, '')).buffer } : {};
  return { ok: true, payload: stringify(answer.payload), ...content };
}

/** Tells the daemon what the call ends with, beside the text that every host gets. */
export function tellThrown(report: {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly issues?: unknown;
}): void {
  extism.readVariable(`${prefix}${stringify({ op: 'throw', payload: report })}`);
}

/** Tells the daemon that a setting was asked for which it does not give. */
export function tellDenied(name: string): void {
  extism.readVariable(`${prefix}${stringify({ op: 'denied', payload: name })}`);
}
