import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { type Caller, unknownCaller } from '../../callers/caller.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventLog } from '../../events/event.ts';
import type { InvocableOperation } from '../../operations/invoke.ts';
import type { OperationStream } from '../../operations/operation.ts';
import type { IsCurrent } from '../admission/auth.ts';
import { freeBodyBytes } from '../admission/door-admission.ts';
import type { DoorShares } from '../admission/shares.ts';
import { toHotcellError } from '../problem-reply.ts';
import { freeAnswerBytes } from '../streams/unread-answers.ts';
import { type ConnectionMethod, dispatchRequest } from './dispatch.ts';
import { formatNotification, formatRpcFailure, parseMessage, type RpcItem, type RpcMessage, type RpcRequest } from './message.ts';
import { createRunningRequests } from './running-requests.ts';
import { createSubscriptions } from './subscriptions.ts';

/** What a connection is served with. */
export interface ConnectionParts {
  readonly socket: WebSocket;
  /** What carries it. */
  readonly raw: Socket;
  /** Who opened it, when the handshake told. */
  readonly caller: Caller | undefined;
  /** Says who a token or ticket of the method `auth` belongs to. */
  readonly identify: (params: Readonly<Record<string, unknown>>) => Caller | undefined;
  /** Counts the connection as one of this caller's. Throws `rate-limited`. */
  readonly enter: (caller: Caller) => void;
  readonly shares: Pick<DoorShares, 'bodies' | 'requests' | 'subscriptions' | 'unread'>;
  readonly isCurrent: IsCurrent;
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly discover: () => unknown;
  readonly events: EventLog;
  readonly log: Logger;
}

const authenticateWithinMs = 10_000;
const maxAnonymousBytes = 4096;
/** What a message holds is counted in such steps while it comes in. */
const arrivalStepBytes = 1024 * 1024;
const maxUnsentBytes = 16 * 1024 * 1024;

/** How to say who one is once the connection is open. */
const authFix =
  'Send auth {token} as the first message, or auth {ticket} with one from POST /api/tickets, as a browser does that has no token.';

/** Close codes in the range that is ours to define. */
export const closeCodes = { unauthenticated: 4401, slowReader: 4408, crowded: 4429, stopping: 1001 } as const;

/**
 * Serves JSON-RPC 2.0 on one WebSocket: every operation is a method, in any order, also in batches. A connection that
 * is closed does not cancel what it called; the notification `rpc.cancel {id}` does. `endOutdated` closes it where the key
 * of its caller was changed, was revoked or has ended.
 */
export function serveConnection(parts: ConnectionParts): { readonly endOutdated: () => void } {
  const { socket, log } = parts;
  let { caller } = parts;
  const running = createRunningRequests();
  const gone = new AbortController();
  /** Bytes that came in since the last message was whole, and what they hold of the caller's share. */
  let arrivedBytes = 0;
  let arrivals: Array<() => void> = [];

  const subscriptions = createSubscriptions({
    events: parts.events,
    shares: parts.shares.subscriptions,
    send,
    sink: {
      pendingBytes: () => socket.bufferedAmount,
      drained: () => waitForDrain(socket),
      refuseSlowReader: () => endSlowReader(),
    },
  });

  const methods = new Map<string, ConnectionMethod>([
    ['auth', authenticate],
    ['events.subscribe', (params) => subscriptions.subscribe(params, requireCaller())],
    ['events.unsubscribe', (params) => subscriptions.unsubscribe(params)],
    ['rpc.discover', parts.discover],
    ['rpc.cancel', ({ id }) => ({ cancelled: running.cancel(id) })],
  ]);

  const anonymousTimer = setTimeout(() => {
    if (caller === undefined) socket.close(closeCodes.unauthenticated, 'no token within 10 seconds');
  }, authenticateWithinMs);

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return socket.close(1003, 'text only');
    endArrival();
    if (!mayGoOn()) return;
    const text = readText(data);
    if (caller === undefined && text.length > maxAnonymousBytes) {
      return socket.close(closeCodes.unauthenticated, 'authenticate first');
    }
    const message = parseMessage(text);
    if (message.kind === 'refused') return send(message.answer);
    const release = holdMessage(text.length);
    if (release instanceof HotcellError) return send(formatRpcFailure(idOf(message), release));
    if (message.kind === 'batch') return void answerBatch(message.items).finally(release);
    const answered = answerItem(message.item).finally(release);
    void answered.then((answer) => answer !== undefined && send(answer, idOf(message)));
  });

  parts.raw.on('data', (chunk: Buffer) => {
    arrivedBytes += chunk.length;
    if (caller === undefined) {
      if (arrivedBytes > 2 * maxAnonymousBytes) closeAtOnce(socket, closeCodes.unauthenticated, 'authenticate first');
      return;
    }
    try {
      while (arrivedBytes > (arrivals.length + 1) * arrivalStepBytes) {
        arrivals.push(parts.shares.bodies.take(caller, arrivalStepBytes));
      }
    } catch {
      closeAtOnce(socket, closeCodes.crowded, 'too many bytes under way');
    }
  });

  function endArrival(): void {
    arrivedBytes = 0;
    for (const release of arrivals) release();
    arrivals = [];
  }

  /** Large messages are held until they are answered; the refusal when there is no room for one. */
  function holdMessage(bytes: number): (() => void) | HotcellError {
    if (caller === undefined || bytes <= freeBodyBytes) return () => {};
    try {
      return parts.shares.bodies.take(caller, bytes);
    } catch (error) {
      if (error instanceof HotcellError) return error;
      throw error;
    }
  }

  socket.once('close', () => {
    clearTimeout(anonymousTimer);
    endArrival();
    gone.abort();
    subscriptions.close();
  });

  return { endOutdated: () => void mayGoOn() };

  async function answerBatch(items: readonly RpcItem[]): Promise<void> {
    const answers = await Promise.all(items.map(answerItem));
    const told = answers.filter((answer) => answer !== undefined);
    if (told.length > 0) send(`[${told.join(',')}]`, null);
  }

  async function answerItem(item: RpcItem): Promise<string | undefined> {
    if ('refusal' in item) return item.refusal;
    const refusal = refuseEarly(item);
    if (refusal !== undefined) return item.id === undefined ? undefined : formatRpcFailure(item.id, refusal);
    const id = item.id ?? undefined;
    const ends: Array<() => void> = [];
    try {
      const { signal: cancelSignal, leave } = running.enter(id);
      ends.push(leave);
      if (caller !== undefined) ends.push(parts.shares.requests.take(caller));
      const stream = item.events && id !== undefined ? streamTo(id) : undefined;
      const context = { caller: caller ?? unknownCaller, signal: gone.signal, cancelSignal, stream };
      return await dispatchRequest(item, context, { operations: parts.operations, methods, log });
    } catch (error) {
      return item.id === undefined ? undefined : formatRpcFailure(item.id, toHotcellError(error, log));
    } finally {
      for (const end of ends) end();
    }
  }

  function streamTo(id: string | number): OperationStream {
    return {
      accepted: (executionId) => send(formatNotification('rpc.accepted', { id, executionId })),
      event: (event) => send(formatNotification('rpc.event', { id, event })),
    };
  }

  function refuseEarly({ method, events }: RpcRequest): HotcellError | undefined {
    if (events && parts.operations.get(method)?.operation.streams !== true) {
      return new HotcellError('body-invalid', `${method.slice(0, 64)} tells no events.`, { fix: 'Leave "events" out.' });
    }
    if (caller === undefined && method !== 'auth') {
      return new HotcellError('unauthenticated', 'Expected the method auth {token} or {ticket} first.', { fix: authFix });
    }
    return undefined;
  }

  function authenticate(params: Readonly<Record<string, unknown>>): { caller: Omit<Caller, 'toolOwners'> } {
    const known = parts.identify(params);
    if (known === undefined) {
      throw new HotcellError(
        'unauthenticated',
        'Expected a valid {token} or {ticket}, got one that is not known, used or expired.',
      );
    }
    if (known !== caller) parts.enter(known);
    caller = known;
    // Where files lie is not a caller's to know.
    const { toolOwners: _owners, ...shown } = known;
    return { caller: shown };
  }

  function requireCaller(): Caller {
    if (caller === undefined) throw new HotcellError('unauthenticated', 'Expected the method auth first.', { fix: authFix });
    return caller;
  }

  /** A key that was changed or revoked ends its connections: whoever comes back gets what it allows now. */
  function mayGoOn(): boolean {
    if (caller === undefined || parts.isCurrent(caller)) return true;
    socket.close(closeCodes.unauthenticated, 'the key was changed or revoked');
    return false;
  }

  /** `answersId` names the request whose answer this is: it is told where there is no room for its answer. */
  function send(text: string, answersId?: string | number | null): void {
    if (socket.readyState !== socket.OPEN || !mayGoOn()) return;
    const { bufferedAmount } = socket;
    try {
      if (bufferedAmount > maxUnsentBytes) endSlowReader();
      else if (caller === undefined || text.length + bufferedAmount <= freeAnswerBytes) socket.send(text);
      else socket.send(text, parts.shares.unread.hold(caller, Buffer.byteLength(text), endSlowReader));
    } catch (error) {
      if (answersId === undefined) endSlowReader();
      else send(formatRpcFailure(answersId, toHotcellError(error, log)));
    }
  }

  function endSlowReader(): void {
    if (socket.readyState !== socket.OPEN) return;
    closeAtOnce(socket, closeCodes.slowReader, 'slow reader');
  }
}

/** Says goodbye without waiting for an answer: what the connection holds is given up now, whether the farewell leaves or not. */
export function closeAtOnce(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  setImmediate(() => socket.terminate());
}

function idOf(message: RpcMessage): string | number | null {
  return message.kind === 'single' && 'method' in message.item ? (message.item.id ?? null) : null;
}

const drainPollMs = 20;

async function waitForDrain(socket: WebSocket): Promise<void> {
  // A WebSocket has no drain event; its buffer is looked at instead.
  while (socket.readyState === socket.OPEN && socket.bufferedAmount > 0) {
    await new Promise<void>((resolve) => setTimeout(resolve, drainPollMs).unref());
  }
}

function readText(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return Array.isArray(data) ? Buffer.concat(data).toString('utf8') : Buffer.from(data).toString('utf8');
}
