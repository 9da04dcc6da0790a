import { estimateTokens, messageTokens } from '../capabilities/llm/token-estimate.ts';
import { type ModelPrice, type ModelSettings, readProvider } from '../config/settings/model-settings.ts';
import type { TokenUsage } from '../conversation/answer.ts';
import type { ConversationRequest } from '../conversation/request.ts';

/** Money is counted in billionths of a dollar, so that sums are exact. */
export const nanosPerDollar = 1_000_000_000;

/** When the shipped prices were looked up. */
export const pricesAsOf = '2026-11-22';

const price = (input: number, output: number, cacheRead = input, cacheWrite = input): ModelPrice => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

/**
 * Published list prices of well-known models, in dollars for a million tokens, by the name that the table of providers has. Prices of
 * long prompts, of batches and of whatever is not a token are not in it.
 */
export const shippedPrices: Readonly<Record<string, ModelPrice>> = {
  'openai/gpt-5.5': price(5, 30, 0.5),
  'openai/gpt-5.4': price(2.5, 15, 0.25),
  'openai/gpt-5.4-mini': price(0.75, 4.5, 0.075),
  'openai/gpt-5.4-nano': price(0.2, 1.25, 0.02),
  'openai/gpt-5': price(1.25, 10, 0.125),
  'openai/gpt-5-mini': price(0.25, 2, 0.025),
  'openai/gpt-4.1': price(2, 8, 0.5),
  'openai/gpt-4.1-mini': price(0.4, 1.6, 0.1),
  'openai/gpt-4o': price(2.5, 10, 1.25),
  'openai/gpt-4o-mini': price(0.15, 0.6, 0.075),
  'anthropic/claude-opus-5': price(5, 25, 0.5, 6.25),
  'anthropic/claude-opus-4-8': price(5, 25, 0.5, 6.25),
  'anthropic/claude-opus-4-5': price(5, 25, 0.5, 6.25),
  'anthropic/claude-sonnet-5': price(2, 10, 0.2, 2.5),
  'anthropic/claude-sonnet-4-6': price(3, 15, 0.3, 3.75),
  'anthropic/claude-sonnet-4-5': price(3, 15, 0.3, 3.75),
  'anthropic/claude-haiku-4-5': price(1, 5, 0.1, 1.25),
  'gemini/gemini-2.5-pro': price(1.25, 10, 0.125),
  'gemini/gemini-2.5-flash': price(0.3, 2.5, 0.03),
  'gemini/gemini-3.5-flash': price(1.5, 9, 0.15),
};

const free = price(0, 0);
const dateSuffix = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** What a model costs: as the config says, else as shipped; nothing on one's own machine; undefined where nobody knows. */
export function findPrice(settings: ModelSettings, provider: string, model: string): ModelPrice | undefined {
  const own = settings.prices;
  for (const name of [`${provider}/${model}`, model]) if (Object.hasOwn(own, name)) return own[name];
  const setting = settings.providers[provider];
  const read = setting && readProvider(provider, setting, settings);
  if (read?.known === undefined) return undefined;
  if (read.known.isLocal === true) return free;
  // Whoever resells a provider's models at another address has prices of its own.
  if (setting?.baseUrl !== undefined) return undefined;
  return shippedPrices[`${read.knownName}/${model}`] ?? shippedPrices[`${read.knownName}/${model.replace(dateSuffix, '')}`];
}

/** What tokens cost, in thousand-millionths of a dollar. */
export function costOf(
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrice,
  { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
): number {
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const dollarsPerMillion = plain * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output;
  return Math.round(dollarsPerMillion * 1000);
}

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
