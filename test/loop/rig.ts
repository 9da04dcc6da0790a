import type { ServerResponse } from 'node:http';
import type { Caller } from '../../src/callers/caller.ts';
import type { Settings } from '../../src/config/schema.ts';
import type { AnswerStop, ConversationAnswer } from '../../src/conversation/answer.ts';
import type { Message, Part } from '../../src/conversation/conversation.ts';
import { argumentsOf } from '../../src/conversation/tool-arguments.ts';
import type { LoopEnd, LoopEvent, LoopRequest, LoopTools } from '../../src/loop/loop.ts';
import { loopBoundsOf } from '../../src/loop/loop-budget.ts';
import { openaiChat } from '../../src/models/wire/openai-chat/openai-chat.ts';
import { type ProviderRequest, sendJson, startProvider } from '../gateway/provider-server.ts';

export const operator: Caller = { id: 'local', role: 'admin' };

/** Plugins that loops call. */
export const loopPlugins = {
  'weather.ts': `export default {
  description: 'The weather of a city.', isParallelSafe: true,
  handler: async (args: { city: string }, context) => {
    const runs = Number((await context.kv.get(args.city)) ?? 0) + 1;
    await context.kv.set(args.city, runs);
    if (args.city === 'Atlantis') throw new Error('It is under water.');
    return { city: args.city, degrees: 7, runs };
  },
  permissions: { kv: true },
};`,
  'wiper.ts': `export default {
  description: 'Wipes a disk.', isDangerous: true,
  handler: async (args: { disk: string }, context) => {
    const runs = Number((await context.kv.get(args.disk)) ?? 0) + 1;
    await context.kv.set(args.disk, runs);
    return 'wiped ' + args.disk + ' ' + runs;
  },
  permissions: { kv: true },
};`,
  'fastwiper.ts': `export default {
  description: 'Wipes several disks at once.', isDangerous: true, isParallelSafe: true,
  handler: (args: { disk: string }) => 'wiped ' + args.disk,
};`,
  'sleeper.ts': `export default {
  description: 'Sleeps until it is ended.', isParallelSafe: true,
  handler: async (args: {}, context) => {
    const runs = Number((await context.kv.get('runs')) ?? 0) + 1;
    await context.kv.set('runs', runs);
    if (runs > 1) return 'ran ' + runs;
    await new Promise((resolve) => setTimeout(resolve, 50_000));
    return 'slept';
  },
  permissions: { kv: true },
};`,
};

export const say = (text: string): Part => ({ type: 'text', text });
export const ask = (name: string, id: string, args: Record<string, unknown> = {}): Part => ({
  type: 'tool-call',
  id,
  name,
  arguments: argumentsOf(args),
});
export const user = (text: string): Message => ({ role: 'user', parts: [say(text)] });

/** A model that answers what it is told to, in turn; with nothing left to say it says so. */
export async function startModel() {
  const provider = await startProvider();
  provider.always((_request, response) => sendParts(response, [say('nothing more')]));
  const next = (parts: readonly Part[], kind?: AnswerStop['kind']) =>
    provider.next((_request, response) => sendParts(response, parts, kind));
  return {
    ...provider,
    settings: {
      models: { default: 'local', providers: { local: { baseUrl: `${provider.url}/v1`, model: 'm-1' } } },
    } satisfies Settings,
    say: next,
    /** What the model read of the last calls. */
    lastResults: (): string[] => resultsOf(provider.seen.at(-1)),
  };
}

/** One answer in the format of OpenAI. */
export function sendParts(response: ServerResponse, parts: readonly Part[], kind?: AnswerStop['kind']): void {
  const stop = { kind: kind ?? (parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end') };
  const answer: ConversationAnswer = { id: 'a', model: 'm-1', parts, stop, usage: { inputTokens: 10, outputTokens: 5 } };
  sendJson(response, openaiChat.writeAnswer(answer).value);
}

/** The results in a request, in order. */
export function resultsOf(request: ProviderRequest | undefined): string[] {
  const messages: { role: string; content: unknown }[] = request?.body.messages ?? [];
  return messages.flatMap(({ role, content }) =>
    role === 'tool' ? [typeof content === 'string' ? content : JSON.stringify(content)] : [],
  );
}

/** A request for a loop. */
export function requestOf(
  id: string,
  tools: LoopTools,
  more: Partial<LoopRequest> & { readonly declared?: readonly string[] } = {},
): LoopRequest {
  const { declared = [], bounds, ...rest } = more;
  return {
    id,
    conversation: {
      model: 'local',
      system: [],
      messages: [user('Go.')],
      tools: [...Object.keys(tools), ...declared].map((name) => ({ name, parameters: { type: 'object' } })),
      nativeTools: [],
      sampling: {},
      isStreamed: false,
    },
    tools,
    bounds: { ...loopBoundsOf([]), ...bounds },
    caller: operator,
    purpose: 'chat',
    ...rest,
  };
}

/** Reads a loop to its end. */
export async function readLoop(events: AsyncIterable<LoopEvent>): Promise<{ events: LoopEvent[]; end: LoopEnd }> {
  const seen: LoopEvent[] = [];
  for await (const event of events) seen.push(event);
  const end = seen.at(-1);
  if (end?.type !== 'loop-end') throw new Error('The loop told no end.');
  return { events: seen, end };
}

/** The names of what happened, without what the model said. */
export const steps = (events: readonly LoopEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type === 'model') return [];
    return ['callId' in event ? `${event.type} ${event.callId}` : event.type];
  });
