import type { Caller } from '../../callers/caller.ts';
import { isObject } from '../../config/json-object.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../../config/read/json-nesting.ts';
import type { HotcellError } from '../../errors/hotcell-error.ts';
import { describeJsonFault } from '../../errors/json-fault.ts';
import { describeProblem } from '../../errors/problem.ts';

/** One request of JSON-RPC 2.0. Without an id it is a notification and gets no answer. */
export interface RpcRequest {
  readonly id?: string | number | null;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** It wants to hear what happens meanwhile: a member of our own, beside those of JSON-RPC. */
  readonly events?: true;
}

/** What a text that came in was. */
export type RpcMessage =
  | { readonly kind: 'single'; readonly item: RpcItem }
  | { readonly kind: 'batch'; readonly items: readonly RpcItem[] }
  | { readonly kind: 'refused'; readonly answer: string };

/** A request, or the answer to something that is none. */
export type RpcItem = RpcRequest | { readonly refusal: string };

const maxBatch = 100;

/** The codes of JSON-RPC 2.0; everything else is -32000 with our own code in `data`. */
export const rpcCodes = { parse: -32700, request: -32600, method: -32601, params: -32602, refused: -32000 } as const;

/** Parses one text. Must not throw. */
export function parseMessage(text: string): RpcMessage {
  if (nestsDeeper(text, maxInputDepth)) {
    return { kind: 'refused', answer: formatRpcError(null, rpcCodes.parse, nestsTooDeep) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      kind: 'refused',
      answer: formatRpcError(null, rpcCodes.parse, `Expected JSON: the message ${describeJsonFault(text)}.`),
    };
  }
  if (!Array.isArray(value)) return { kind: 'single', item: parseItem(value) };
  if (value.length === 0 || value.length > maxBatch) {
    const message = `Expected a batch of 1 to ${maxBatch} requests, got ${value.length}.`;
    return { kind: 'refused', answer: formatRpcError(null, rpcCodes.request, message) };
  }
  return { kind: 'batch', items: value.map(parseItem) };
}

function parseItem(value: unknown): RpcItem {
  if (!isObject(value)) return refuse(null, 'Expected a request object.');
  const { jsonrpc, id, method, params, events } = value;
  const isId = id === null || typeof id === 'string' || typeof id === 'number';
  if (id !== undefined && !isId) return refuse(null, 'Expected an id that is text, a number or null.');
  if (jsonrpc !== '2.0') return refuse(isId ? id : null, 'Expected "jsonrpc": "2.0".');
  if (typeof method !== 'string') return refuse(isId ? id : null, 'Expected a method that is text.');
  if (params !== undefined && !isObject(params)) return refuse(isId ? id : null, 'Expected params by name, as an object.');
  if (events !== undefined && (events !== true || id === undefined || id === null)) {
    return refuse(isId ? id : null, 'Expected "events": true beside an id, or no such member.');
  }
  return { ...(isId ? { id } : {}), method, params: params ?? {}, ...(events === true ? { events } : {}) };
}

function refuse(id: string | number | null, message: string): RpcItem {
  return { refusal: formatRpcError(id, rpcCodes.request, message) };
}

/** The answer to a request that was carried out. */
export function formatRpcResult(id: string | number | null, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? 'null'}}`;
}

/** The answer to a request that was refused or failed. */
export function formatRpcFailure(id: string | number | null, error: HotcellError, role?: Caller['role']): string {
  const code = error.code === 'body-invalid' ? rpcCodes.params : rpcCodes.refused;
  return formatRpcError(id, code, error.message, describeProblem(error, role));
}

/** An error answer with a code of JSON-RPC. */
export function formatRpcError(id: string | number | null, code: number, message: string, data?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

/** A message that asks for no answer. */
export function formatNotification(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}
