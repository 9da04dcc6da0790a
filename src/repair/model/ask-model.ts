import { randomUUID } from 'node:crypto';
import type { Caller } from '../../callers/caller.ts';
import type { ConversationAnswer } from '../../conversation/answer.ts';
import type { Message } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';
import type { Loops } from '../../loop/loops.ts';
import type { ModelRoom } from '../decide-next.ts';

/** One answer of a model, and what it used. `failure`: it did not answer, in a sentence. */
export interface AskedModel {
  readonly answer: ConversationAnswer;
  readonly tokens: number;
  readonly cost: number;
  readonly failure?: string;
}

/** Asks a model once. Must not throw but for an abort. */
export type AskModel = (request: ConversationRequest, room: ModelRoom, signal: AbortSignal) => Promise<AskedModel>;

const maxAnswerBytes = 512 * 1024;
const timeoutMs = 5 * 60_000;

/**
 * Asks through the one loop of models. The tools of a repair are run by the repair, as a client runs its own: the loop ends with each
 * answer, and its bounds are those of what is left for the plugin.
 */
export function createAskModel(loops: Pick<Loops, 'run'>, caller: Caller): AskModel {
  return async (conversation, room, signal) => {
    const events = loops.run({
      id: `repair_${randomUUID()}`,
      conversation,
      tools: {},
      bounds: {
        repeats: 1,
        followUps: 1,
        renewals: 0,
        maxCallsPerTurn: 1,
        maxResultBytes: maxAnswerBytes,
        maxBytes: maxAnswerBytes,
        maxAnswerBytes,
        timeoutMs,
        maxTokens: room.tokens,
        maxCost: room.cost,
      },
      caller,
      purpose: 'repair',
      signal,
    });
    for await (const event of events) {
      if (event.type !== 'loop-end') continue;
      signal.throwIfAborted();
      const { answer, usage, cost = 0, reason, error } = event;
      const used = { answer, tokens: usage.inputTokens + usage.outputTokens, cost };
      if (reason === 'answered' || reason === 'client-calls') return used;
      const why = error?.message ?? answer.failure?.message;
      return { ...used, failure: why === undefined ? `it ended with ${reason}.` : why };
    }
    throw new Error('A loop ended without its last event.');
  };
}

/** What a model is asked: `task` is what it is told of its work. */
export function composeRequest(
  asked: Pick<ConversationRequest, 'model' | 'tools' | 'maxTokens'> & { readonly task: string; readonly messages: Message[] },
): ConversationRequest {
  const { task, ...rest } = asked;
  return { ...rest, system: [{ type: 'text', text: task }], nativeTools: [], sampling: {}, isStreamed: true };
}

/** A message of ours, or one that the model said. */
export function say(text: string, role: 'user' | 'assistant' = 'user'): Message {
  return { role, parts: [{ type: 'text', text }] };
}
