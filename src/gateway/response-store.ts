import type { Caller } from '../callers/caller.ts';
import { isObject, readJson } from '../config/json-object.ts';
import type { JsonObject, Message } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';

/** A response that was kept. */
export interface StoredResponse {
  /** What it went on from. */
  readonly previous?: string | undefined;
  /** What was said before it: all of it when `previous` is absent. */
  readonly input: readonly Message[];
  /** Everything that came of it, calls that the daemon ran included; absent as long as it is not over. */
  readonly output?: readonly Message[];
  /** As the client got it; absent as long as it is not over. */
  readonly response?: JsonObject;
  /** The loop that makes it, and what was asked, without its messages. */
  readonly loopId?: string;
  readonly request?: ConversationRequest;
}

/** Responses by id; a caller finds its own alone. */
export interface ResponseStore {
  put(id: string, caller: Caller, response: StoredResponse): void;
  get(id: string, caller: Caller): StoredResponse | undefined;
  remove(id: string, caller: Caller): boolean;
  /** The conversation up to a response, its output included. Throws `not-found`. */
  conversationUpTo(id: string, caller: Caller, local?: ReadonlyMap<string, StoredResponse>): Message[];
}

/** Nobody's conversation has so many turns. */
const maxTurns = 10_000;

/** Creates the store. */
export function createResponseStore(table: KeptAnswerTable, now: () => number): ResponseStore {
  const store: ResponseStore = {
    put(id, { id: caller, isAnonymous }, response) {
      if (isAnonymous === true) return;
      table.put({ caller, key: `response:${id}`, value: JSON.stringify(response), atMs: now() });
    },
    get(id, caller) {
      const value = readJson(table.get(caller.id, `response:${id}`)?.value);
      return isStored(value) ? value : undefined;
    },
    remove: (id, caller) => table.remove(caller.id, `response:${id}`),
    conversationUpTo(id, caller, local) {
      const turns: Message[][] = [];
      const seen = new Set<string>();
      for (let next: string | undefined = id; next !== undefined; ) {
        const stored: StoredResponse | undefined = local?.get(next) ?? store.get(next, caller);
        if (stored?.output === undefined || seen.has(next) || turns.length >= maxTurns) throw refuseResponse(next);
        seen.add(next);
        turns.push([...stored.input, ...stored.output]);
        next = stored.previous;
      }
      return turns.reverse().flat();
    },
  };
  return store;
}

/** The refusal of an id that this caller has no response of. */
export function refuseResponse(id: string): HotcellError {
  return new HotcellError('not-found', `There is no response "${id.slice(0, 128)}" of this key, or it is not over.`, {
    fix: 'Send the whole conversation as input instead.',
    facts: { param: 'previous_response_id', code: 'previous_response_not_found' },
  });
}

/** Rows are written by this daemon alone; what is checked is that it is not something else. */
export function isMessages(value: unknown): value is Message[] {
  return Array.isArray(value) && value.every((one) => isObject(one) && typeof one.role === 'string' && Array.isArray(one.parts));
}

function isStored(value: unknown): value is StoredResponse {
  if (!isObject(value) || !isMessages(value.input)) return false;
  return (value.output === undefined || isMessages(value.output)) && (value.response === undefined || isObject(value.response));
}
