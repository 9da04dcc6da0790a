import { estimateTokens, messageTokens } from '../capabilities/llm/token-estimate.ts';
import type { ConversationRequest } from '../conversation/request.ts';

/** What an image, a sound or a file takes beside its size; providers count them by pixels, seconds and pages. */
const mediaTokens = 2000;
const mediaCharsPerToken = 100;

/** Tokens that a request takes at most with the usual tokenizers, roughly: all that is text in it, and a guess for what is not. */
export function estimateRequest({ system, messages, tools, nativeTools, responseShape }: ConversationRequest): number {
  let mediaCost = 0;
  const text = JSON.stringify([system, messages, tools, nativeTools, responseShape], function (key, value: unknown) {
    if (key !== 'data' || typeof value !== 'string' || !('mediaType' in Object(this))) return value;
    mediaCost += mediaTokens + Math.ceil(value.length / mediaCharsPerToken);
    return undefined;
  });
  return estimateTokens(text) + mediaCost + messages.length * messageTokens;
}
