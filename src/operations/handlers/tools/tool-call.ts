import type { CallAnswer, CallRequest } from '../../../calls/call-types.ts';
import type { OperationContext } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';
import { filterFor } from '../events.ts';

/** What an operation says of the call that it makes; the rest comes with whoever asks for it. */
export type WantedCall = Pick<CallRequest, 'ref' | 'arguments'> & {
  readonly [Key in 'entry' | 'session' | 'timeoutMs' | 'idempotencyKey' | 'isBuiltinOnly' | 'turn']?:
    | CallRequest[Key]
    | undefined;
};

/** Calls a tool for an operation. `around` stands between a request and its call. */
export type CallForOperation = (
  wanted: WantedCall,
  context: OperationContext,
  around?: (request: CallRequest, call: () => Promise<CallAnswer>) => Promise<CallAnswer>,
) => Promise<CallAnswer>;

/** Creates what operations call tools with: it ends with its client, and tells events to those who asked for them. */
export function createCallForOperation(parts: Pick<OperationParts, 'caller' | 'events' | 'forgetAnonymous'>): CallForOperation {
  return (wanted, { caller, cancelSignal, clientCan, stream }, around = (_request, call) => call()) => {
    const { ref, entry, session, timeoutMs, idempotencyKey, isBuiltinOnly, turn } = wanted;
    const request: { -readonly [Key in keyof CallRequest]: CallRequest[Key] } = { ref, arguments: wanted.arguments, caller };
    if (entry !== undefined) request.entry = entry;
    if (clientCan !== undefined) request.clientCan = clientCan;
    if (session !== undefined) request.session = session;
    if (timeoutMs !== undefined) request.timeoutMs = timeoutMs;
    if (idempotencyKey !== undefined) request.idempotencyKey = idempotencyKey;
    if (isBuiltinOnly !== undefined) request.isBuiltinOnly = isBuiltinOnly;
    if (turn !== undefined) request.turn = turn;
    if (cancelSignal !== undefined) request.signal = cancelSignal;
    let endStream: (() => void) | undefined;
    if (stream !== undefined) {
      // From its first moment on.
      request.onAccepted = (execution) => {
        stream.accepted(execution);
        endStream = parts.events.subscribe({ ...filterFor(caller, undefined), execution }, (event) => stream.event(event));
      };
    }
    const answer = around(request, () => parts.caller.call(request));
    const told = stream === undefined ? answer : answer.finally(() => endStream?.());
    return caller.isAnonymous ? told.finally(() => parts.forgetAnonymous(caller.id)) : told;
  };
}
