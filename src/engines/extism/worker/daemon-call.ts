import type { BorderAnswer } from '../../../border/border.ts';
import { isObject } from '../../../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../../config/read/json-nesting.ts';
import { readThrowReport } from '../../throw-report.ts';
import type { CallState } from './call-state.ts';
import { GuestFault } from './guest-fault.ts';

/**
 * Variables whose names begin so are questions to the daemon, and their values the answers: a module that is to run in every
 * host may not import a function that others do not have, and everywhere else there is no such variable.
 */
export const daemonCallPrefix = 'hotcell_call:';

/** The longest question, in bytes. */
export const maxCallBytes = 16 * 1024 * 1024;

/**
 * Answers `{"op", "payload", "body"?}` (body base64) with `{"ok": true, "payload", "body"?}` or `{"ok": false, "code", "message"}`, both
 * JSON. Throws `arguments-invalid`, and `host-calls-exceeded`.
 */
export function answerDaemonCall(state: CallState, request: string): string {
  return askHost(state, readCall(parseJson(request)));
}

/**
 * The same for a built module, which may ask more: `facts` answers who calls and what settings there are, `throw
 * {name, code, message}` tells the error that it ends with, and has no answer; nor has `denied`,
 * the name of a setting that it read in vain.
 */
export function answerBuiltModule(state: CallState, request: string): string | undefined {
  const call = readCall(parseJson(request));
  const { facts, denied } = state.call;
  if (call.op === 'facts') return JSON.stringify({ ok: true, payload: { ...facts, denied } });
  if (call.op === 'denied') {
    const name = String(call.payload);
    if (Object.hasOwn(denied, name)) state.tellDenied(name);
    return undefined;
  }
  if (call.op !== 'throw') return askHost(state, call);
  state.thrown = readThrowReport(call.payload);
  return undefined;
}

function askHost(host: CallState, { op, payload, body }: Call): string {
  return JSON.stringify(describeAnswer(host.ask(op, JSON.stringify(payload), body)));
}

function describeAnswer(answer: BorderAnswer): unknown {
  if (!answer.ok) return answer;
  const payload: unknown = answer.payload === '' ? null : JSON.parse(answer.payload);
  return { ok: true, payload, ...(answer.body && { body: Buffer.from(answer.body).toString('base64') }) };
}

interface Call {
  readonly op: string;
  readonly payload: unknown;
  readonly body?: Uint8Array;
}

function readCall(value: unknown): Call {
  if (!isObject(value) || typeof value.op !== 'string' || value.op === '') {
    throw new GuestFault('arguments-invalid', 'hotcell_call expects {"op": "kv.get", "payload": {…}, "body"?: base64}.');
  }
  const { payload = null, body } = value;
  return { op: value.op, payload, ...(typeof body === 'string' && { body: Buffer.from(body, 'base64') }) };
}

function parseJson(text: string): unknown {
  if (nestsDeeper(text, maxInputDepth))
    throw new GuestFault('arguments-invalid', `hotcell_call cannot take this. ${nestsTooDeep}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new GuestFault('arguments-invalid', 'hotcell_call expects JSON text.');
  }
}
