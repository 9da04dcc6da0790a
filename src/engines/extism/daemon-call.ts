import type { BorderAnswer } from '../border.ts';
import type { ThrowReport } from '../quickjs/protocol.ts';
import { GuestFault } from './guest-fault.ts';
import type { HostCaller } from './host-channel.ts';

/**
 * Variables whose names begin so are questions to the daemon, and their values the answers: a module that is to run in every
 * host may not import a function that others do not have, and everywhere else there is no such variable.
 */
export const daemonCallPrefix = 'hotcell_call:';

/** The longest question, in bytes. */
export const mostCallBytes = 16 * 1024 * 1024;

/**
 * Answers `{"op", "payload", "body"?}` (body base64) with `{"ok": true, "payload", "body"?}` or `{"ok": false, "code", "message"}`, both
 * JSON. Throws `arguments-invalid`, and `host-calls-exceeded`.
 */
export function answerDaemonCall(host: HostCaller, request: string): string {
  const { op, payload, body } = readCall(parseJson(request));
  return JSON.stringify(describeAnswer(host.ask(op, JSON.stringify(payload), body)));
}

/** What a built module says of the error that it ends with: `{"op": "throw", "payload": {name, code, message}}`; else undefined. */
export function readThrown(request: string): ThrowReport | undefined {
  const { op, payload } = readCall(parseJson(request));
  if (op !== 'throw') return undefined;
  const text = (name: string): string | undefined => {
    const value: unknown = typeof payload === 'object' && payload !== null ? Reflect.get(payload, name) : undefined;
    return typeof value === 'string' ? value.slice(0, 4000) : undefined;
  };
  const [name, code] = [text('name'), text('code')];
  return { message: text('message') ?? '', ...(name !== undefined && { name }), ...(code !== undefined && { code }) };
}

function describeAnswer(answer: BorderAnswer): unknown {
  if (!answer.ok) return answer;
  const payload: unknown = answer.payload === '' ? null : JSON.parse(answer.payload);
  return { ok: true, payload, ...(answer.body && { body: Buffer.from(answer.body).toString('base64') }) };
}

function readCall(value: unknown): { op: string; payload: unknown; body?: Uint8Array } {
  const op = typeof value === 'object' && value !== null && 'op' in value ? value.op : undefined;
  if (typeof value !== 'object' || value === null || typeof op !== 'string' || op === '') {
    throw new GuestFault('arguments-invalid', 'hotcell_call expects {"op": "kv.get", "payload": {…}, "body"?: base64}.');
  }
  const body = 'body' in value && typeof value.body === 'string' ? Buffer.from(value.body, 'base64') : undefined;
  return { op, payload: 'payload' in value ? value.payload : null, ...(body && { body }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GuestFault('arguments-invalid', 'hotcell_call expects JSON text.');
  }
}
