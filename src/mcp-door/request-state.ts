import { hash, hkdfSync } from 'node:crypto';
import { createRequestStateCodec, type RequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { isObject } from '../config/json-object.ts';
import { canonicalJson } from '../tools/canonical-json.ts';

/** What a client hands back with its answers: which call they are for, and under which keys its questions stand. */
export interface RequestState {
  readonly executionId: string;
  /** SHA-256 of what was called, with its arguments: answers to another call are not taken. */
  readonly request: string;
  /** Ids of the questions by the keys under which they were asked. */
  readonly questions: Readonly<Record<string, string>>;
}

/** A person may sleep over a question; who comes later asks again, and finds the call where it was. */
const ttlSeconds = 7 * 24 * 3600;

/**
 * Seals what clients hand back: they can neither read, forge nor move it to another caller. The key comes of the admin token, so
 * that it outlives the daemon, and ends with that token.
 */
export function createStateCodec(adminToken: string): RequestStateCodec<RequestState> {
  const key = new Uint8Array(hkdfSync('sha256', adminToken, '', 'hotcell mcp request state', 32));
  return createRequestStateCodec<RequestState>({
    key,
    ttlSeconds,
    bind: ({ http, mcpReq }: ServerContext) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });
}

/** What was asked for, as a state is bound to it. */
export function hashRequest(method: string, name: string, args: unknown): string {
  return hash('sha256', canonicalJson([method, name, args ?? {}]));
}

/** What a verified state says; undefined where a request brought none. */
export function readState(value: unknown): RequestState | undefined {
  if (!isObject(value) || typeof value.executionId !== 'string' || typeof value.request !== 'string') return undefined;
  const questions = isObject(value.questions) ? Object.entries(value.questions) : [];
  const texts = questions.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { executionId: value.executionId, request: value.request, questions: Object.fromEntries(texts) };
}
