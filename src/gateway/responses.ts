import type { Caller } from '../callers/caller.ts';
import { isObject, readJson } from '../config/json-object.ts';
import type { ConversationAnswer } from '../conversation/answer.ts';
import { type JsonObject, keptOf, type Message } from '../conversation/conversation.ts';
import { type ConversationRequest, namesOfTools } from '../conversation/request.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { LoopView } from '../loop/loop.ts';
import { openaiResponses as format } from '../models/wire/openai-responses/openai-responses.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';
import { openCompactions } from './compact.ts';
import type { Asked, GatewayRequest, StoredResponse } from './gateway-types.ts';
import { answerOfLoop } from './loop-stream.ts';

export type Responses = ReturnType<typeof createResponses>;

/** Nobody's conversation has so many turns. */
const maxTurns = 10_000;

/** Creates what keeps the answers of `/v1/responses` by their ids; a caller finds its own alone. */
export function createResponses(parts: {
  readonly table: KeptAnswerTable;
  /** Undefined for a loop that is not known any more. */
  readonly findLoop: (id: string, caller: Caller) => LoopView | undefined;
  readonly now: () => number;
}) {
  const { table, findLoop, now } = parts;

  function put(id: string, { id: caller, isAnonymous }: Caller, response: StoredResponse): void {
    if (isAnonymous === true) return;
    table.put({ caller, key: `response:${id}`, value: JSON.stringify(response), atMs: now() });
  }

  function get(id: string, caller: Caller): StoredResponse | undefined {
    const value = readJson(table.get(caller.id, `response:${id}`)?.value);
    return isStoredResponse(value) ? value : undefined;
  }

  /** The conversation up to a response, its output included. */
  function conversationUpTo(id: string, { caller, local }: GatewayRequest): Message[] {
    const turns: Message[][] = [];
    const seen = new Set<string>();
    for (let next: string | undefined = id; next !== undefined; ) {
      const stored: StoredResponse | undefined = local?.get(next) ?? get(next, caller);
      if (stored?.output === undefined || seen.has(next) || turns.length >= maxTurns) throw refuseResponse(next);
      seen.add(next);
      turns.push([...stored.input, ...stored.output]);
      next = stored.previous;
    }
    return turns.reverse().flat();
  }

  return {
    /** A request with what it goes on from before it. Throws `not-found`. */
    continueRequest(said: ConversationRequest, request: GatewayRequest): ConversationRequest {
      const { previousAnswerId, ...rest } = said;
      const before = previousAnswerId === undefined ? [] : conversationUpTo(previousAnswerId, request);
      return openCompactions({ ...rest, messages: [...before, ...said.messages] });
    },
    /** Keeps that a loop makes a response. */
    begin({ request: { caller }, said }: Asked, id: string, loopId: string): void {
      if (!isToBeStored(said)) return;
      const { messages: input, previousAnswerId: previous } = said;
      put(id, caller, { previous, input, loopId, request: { ...said, messages: [] } });
    },
    /** Keeps a response; one that is not to be stored is kept by its connection alone. `output`: everything that came of it. */
    keep({ request, said }: Asked, answer: ConversationAnswer, output: readonly Message[], id: string): void {
      const response = format.writeAnswer(answer, { request: said, id }).value;
      const stored = { previous: said.previousAnswerId, input: said.messages, output, response };
      if (isToBeStored(said)) put(id, request.caller, stored);
      else request.local?.set(id, stored);
    },
    /** A response as its client got it; that of a loop as the loop stands. Throws `not-found`. */
    find(id: string, { caller }: GatewayRequest): JsonObject {
      const stored = get(id, caller);
      if (stored === undefined) throw refuseResponse(id);
      const { loopId, request, response = {} } = stored;
      if (stored.response !== undefined || request === undefined) return response;
      const view = loopId === undefined ? undefined : findLoop(loopId, caller);
      const context = { request: { ...request, messages: stored.input }, id };
      if (view?.end === undefined) {
        const shell = { id, model: request.model, parts: [], stop: { kind: 'end' as const } };
        const status = view === undefined ? 'failed' : 'in_progress';
        return { ...format.writeAnswer(shell, context).value, status, completed_at: null };
      }
      const names = namesOfTools(request);
      const told = answerOfLoop(view.end, { isClients: (name) => names.has(name), separator: '', before: [] });
      const written = format.writeAnswer(told, context).value;
      if (told.failure === undefined) put(id, caller, { ...stored, output: view.end.messages, response: written });
      return written;
    },
    remove: (id: string, caller: Caller): boolean => table.remove(caller.id, `response:${id}`),
  };
}

/** The refusal of an id that this caller has no response of. */
function refuseResponse(id: string): HotcellError {
  return new HotcellError('not-found', `There is no response "${id.slice(0, 128)}" of this key, or it is not over.`, {
    fix: 'Send the whole conversation as input instead.',
    facts: { param: 'previous_response_id', code: 'previous_response_not_found' },
  });
}

function isToBeStored(said: ConversationRequest): boolean {
  return keptOf(said, format.name).store !== false;
}

/** Rows are written by this daemon alone; what is checked is that it is not something else. */
export function isMessages(value: unknown): value is Message[] {
  return Array.isArray(value) && value.every((one) => isObject(one) && typeof one.role === 'string' && Array.isArray(one.parts));
}

function isStoredResponse(value: unknown): value is StoredResponse {
  if (!isObject(value) || !isMessages(value.input)) return false;
  return (value.output === undefined || isMessages(value.output)) && (value.response === undefined || isObject(value.response));
}
