import type { Logger } from 'pino';
import { findNearNames } from '../../errors/near-names.ts';
import type { InvocableOperation } from '../../operations/invoke.ts';
import type { OperationContext } from '../../operations/operation.ts';
import { toHotcellError } from '../problem-reply.ts';
import { formatRpcError, formatRpcFailure, formatRpcResult, type RpcRequest, rpcCodes } from './message.ts';

/** A method of the connection itself, such as `events.subscribe`. */
export type ConnectionMethod = (params: Readonly<Record<string, unknown>>) => unknown;

/** What requests are carried out with. */
export interface DispatchParts {
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly methods: ReadonlyMap<string, ConnectionMethod>;
  readonly log: Logger;
}

/** Carries out one request; undefined when it was a notification. Never rejects. */
export async function dispatchRequest(
  request: RpcRequest,
  context: OperationContext,
  { operations, methods, log }: DispatchParts,
): Promise<string | undefined> {
  const { id, method, params } = request;
  const own = methods.get(method);
  const invocable = operations.get(method);
  if (own === undefined && invocable === undefined) {
    if (id === undefined) return undefined;
    const near = findNearNames(method, [...methods.keys(), ...operations.keys()]);
    const message = `There is no method "${method.slice(0, 64)}".`;
    return formatRpcError(id, rpcCodes.method, message, { near, fix: 'See rpc.discover for the methods.' });
  }
  try {
    const result = own === undefined ? await invocable?.invoke(params, context) : own(params);
    return id === undefined ? undefined : formatRpcResult(id, result);
  } catch (error) {
    const refusal = toHotcellError(error, log);
    return id === undefined ? undefined : formatRpcFailure(id, refusal, context.caller.role);
  }
}
