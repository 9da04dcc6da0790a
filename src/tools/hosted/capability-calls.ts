import { Buffer } from 'node:buffer';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CapabilityTable } from '../../border/capability.ts';
import { isErrorCode } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { HostedCall } from './hosted-types.ts';

/** What a tool of the daemon asks a capability for, as a guest would. */
export interface CapabilityQuestion {
  readonly op: string;
  readonly payload: object;
  readonly body?: Uint8Array | undefined;
}

/** One request of a tool of the daemon. */
export interface ToolRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly body?: Uint8Array | undefined;
}

/** What came back. */
export interface ToolResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** After redirects. */
  readonly url: string;
  readonly bytes: Buffer;
  /** There is more than was read. */
  readonly truncated: boolean;
}

/** Who asks, and until when. */
export type CapabilityCall = Pick<HostedCall, 'user' | 'signal'>;

const head = Compile(
  Type.Object({
    status: Type.Integer(),
    headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    url: Type.String(),
    truncated: Type.Boolean(),
    stream: Type.Optional(Type.String()),
  }),
);
const piece = Compile(Type.Object({ done: Type.Boolean(), truncated: Type.Boolean() }));

/** Asks a capability with the rights of the call. Throws its refusal. */
export async function askCapability(
  answer: CapabilityTable['answer'],
  { user, signal }: CapabilityCall,
  { op, payload, body }: CapabilityQuestion,
): Promise<{ readonly payload: unknown; readonly body: Uint8Array }> {
  const answered = await answer({ op, payload: JSON.stringify(payload), ...(body === undefined ? {} : { body }) }, user, signal);
  if (answered.ok) return { payload: JSON.parse(answered.payload), body: answered.body ?? new Uint8Array() };
  throw new HotcellError(isErrorCode(answered.code) ? answered.code : 'internal', answered.message);
}

/** Sends a request through the checks that hold for plugins, and reads `maxBytes` of the answer: the rest is left unread. */
export async function fetchForTool(
  answer: CapabilityTable['answer'],
  call: CapabilityCall,
  { body, ...request }: ToolRequest,
  maxBytes: number,
): Promise<ToolResponse> {
  const first = await askCapability(answer, call, { op: 'fetch', payload: request, body });
  if (!head.Check(first.payload)) throw new HotcellError('internal', 'The answer to the request has no head.');
  const { status, headers, url, stream } = first.payload;
  const pieces = [first.body];
  let bytes = first.body.length;
  let isOver = stream === undefined;
  let isCut = first.payload.truncated;
  while (!isOver && !isCut && bytes <= maxBytes) {
    const next = await askCapability(answer, call, { op: 'fetch.read', payload: { stream, fill: true } });
    if (!piece.Check(next.payload)) throw new HotcellError('internal', 'A piece of the answer to the request has no head.');
    pieces.push(next.body);
    bytes += next.body.length;
    isOver = next.payload.done;
    isCut = next.payload.truncated;
  }
  if (!isOver) await askCapability(answer, call, { op: 'fetch.cancel', payload: { stream } });
  const truncated = !isOver || isCut || bytes > maxBytes;
  return { status, headers, url, bytes: Buffer.concat(pieces).subarray(0, maxBytes), truncated };
}
