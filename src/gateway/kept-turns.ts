import { createHash } from 'node:crypto';
import type { Caller } from '../callers/caller.ts';
import { readJson } from '../config/json-object.ts';
import type { Message, Part } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { WireFormat } from '../models/wire/wire-format.ts';
import type { KeptAnswerTable } from '../store/tables/kept-answers.ts';
import { isMessages } from './responses.ts';

/**
 * Keeps what clients cannot bring back: the calls that the daemon ran, with results, and what their format has no place for. It is found by
 * all that was said before, as the client has it, so that no other conversation gets it.
 */
export function createKeptTurns(table: KeptAnswerTable, now: () => number) {
  return {
    /** Keeps what an answer consisted of, where the client gets less of it. `request` is what was asked, as the client said it. */
    keep(
      request: ConversationRequest,
      shown: readonly Part[],
      messages: readonly Message[],
      { caller, format }: { readonly caller: Caller; readonly format: WireFormat },
    ): void {
      if (caller.isAnonymous === true || !isLossy(messages, format)) return;
      let state = '';
      for (const message of request.messages) state = follow(state, message);
      const key = keyOf(state, { role: 'assistant', parts: shown });
      if (key !== undefined) table.put({ caller: caller.id, key, value: JSON.stringify(messages), atMs: now() });
    },
    /** False where nothing is kept for a caller: then nobody has to read its request. */
    mayHave: ({ id }: Caller): boolean => table.bytes(id) > 0,
    /** Puts it back into a conversation that goes on from such an answer. */
    restore(request: ConversationRequest, caller: Caller): ConversationRequest {
      if (table.bytes(caller.id) === 0 || !request.messages.some(({ role }) => role === 'assistant')) return request;
      let state = '';
      let isChanged = false;
      const messages = request.messages.flatMap((message) => {
        const key = message.role === 'assistant' ? keyOf(state, message) : undefined;
        state = follow(state, message);
        const kept = key === undefined ? undefined : readJson(table.get(caller.id, key)?.value);
        if (!isMessages(kept)) return [message];
        isChanged = true;
        return kept;
      });
      return isChanged ? { ...request, messages } : request;
    },
  };
}

/** The hash of a conversation up to and with a message. Space counts nowhere: clients trim, and join texts in their way. */
function follow(state: string, { role, parts }: Message): string {
  const hash = createHash('sha256').update(state).update(role);
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') hash.update(part.text.replaceAll(/\s+/g, ''));
    else if (part.type === 'tool-call') hash.update(`\n${part.id}`);
    else if (part.type === 'tool-result') hash.update(`\n${part.callId}`);
  }
  return hash.digest('base64url');
}

/** Undefined for a message that says nothing by which it could be found. */
function keyOf(state: string, message: Message): string | undefined {
  const isSaid = message.parts.some((part) => part.type === 'tool-call' || (part.type === 'text' && part.text.trim() !== ''));
  return isSaid ? `turn:${follow(state, message)}` : undefined;
}

/** Whether a client of the format would bring less back than there was. */
function isLossy(messages: readonly Message[], { keepsSeals }: WireFormat): boolean {
  return messages.some(({ role, parts }) => {
    if (role === 'tool') return true;
    return parts.some((part) => {
      if (!('sealed' in part) || part.sealed === undefined) return false;
      return keepsSeals === 'of-none' || (keepsSeals === 'of-reasoning' && part.type !== 'reasoning');
    });
  });
}
