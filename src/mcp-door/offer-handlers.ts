import type { InputRequiredResult, PromptMessage, Server } from '@modelcontextprotocol/server';
import { isSpecType, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { isObject, omitUndefined } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { type Contents, type Ended, sayFailure, toContents, toPart } from '../operations/calling/call-content.ts';
import { completionContracts, promptContracts, resourceContracts } from '../operations/contracts/offerings.ts';
import type { OperationContext } from '../operations/operation.ts';
import { readAbilities } from './client-abilities.ts';
import { toProtocolError } from './content.ts';
import { type CallParts, type RequestedCall, runCall } from './run-call.ts';

/** Serves the prompts and resources of plugins, and what can stand for their arguments; what a client can is read with each request. */
export function registerOffers(server: Server, callParts: Omit<CallParts, 'can'>, session: string | undefined): void {
  const { ask, caller } = callParts;
  const inSession = omitUndefined({ session });
  const context = (signal: AbortSignal): OperationContext => ({ caller, signal });

  server.setRequestHandler('prompts/list', async ({ params }, { mcpReq }) => {
    const { items, rest } = await toPage(
      ask(promptContracts.list, omitUndefined({ cursor: params?.cursor }), context(mcpReq.signal)),
    );
    return { prompts: items, ...rest };
  });
  server.setRequestHandler('resources/list', async ({ params }, { mcpReq }) => {
    const { items, rest } = await toPage(
      ask(resourceContracts.list, omitUndefined({ cursor: params?.cursor }), context(mcpReq.signal)),
    );
    return { resources: items, ...rest };
  });
  server.setRequestHandler('resources/templates/list', async ({ params }, { mcpReq }) => {
    const { items, rest } = await toPage(
      ask(resourceContracts.templates, omitUndefined({ cursor: params?.cursor }), context(mcpReq.signal)),
    );
    return { resourceTemplates: items, ...rest };
  });
  server.setRequestHandler('prompts/get', async ({ params }, ctx) => {
    const { name, arguments: args = {} } = params;
    const { input, output } = await run(
      { method: 'prompts/get', name, args, start: (of) => ask(promptContracts.get, { name, arguments: args, ...inSession }, of) },
      ctx,
    );
    if (input !== undefined) return input;
    const { description, messages } = output;
    const told = typeof description === 'string' ? { description } : {};
    return { ...told, messages: Array.isArray(messages) ? messages.flatMap(toMessage) : [] };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const { input, output } = await run(
      { method: 'resources/read', name: uri, args: {}, start: (of) => ask(resourceContracts.read, { uri, ...inSession }, of) },
      ctx,
    );
    if (input !== undefined) return input;
    const { contents } = output;
    return {
      contents: Array.isArray(contents) ? contents.flatMap((each): Contents[] => listOf(isObject(each) && toContents(each))) : [],
    };
  });
  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq }) => {
    const { ref, argument } = params;
    const input = {
      ref: ref.type === 'ref/prompt' ? { type: 'prompt' as const, name: ref.name } : { type: 'resource' as const, uri: ref.uri },
      argument: { name: argument.name, value: argument.value },
      ...omitUndefined({ context: params.context?.arguments }),
    };
    return { completion: await orProtocol(ask(completionContracts.complete, input, context(mcpReq.signal))) };
  });

  /** What it came to, or that its client is to ask its person. */
  async function run(
    requested: RequestedCall,
    ctx: Parameters<typeof runCall>[2],
  ): Promise<{ readonly input?: InputRequiredResult; readonly output: Readonly<Record<string, unknown>> }> {
    const can = { ...readAbilities(server, ctx), tasks: false };
    const outcome = await orProtocol(runCall({ ...callParts, can }, requested, ctx), requested.name);
    if (outcome.kind === 'input') return { input: outcome.result, output: {} };
    if (outcome.kind === 'ended') return { output: readOutput(outcome.ended) };
    const questions = outcome.kind === 'elsewhere' ? outcome.questions.map(({ id }) => `hotcell approve ${id}`).join(', ') : '';
    throw new ProtocolError(ProtocolErrorCode.InternalError, `It waits for a person: ${questions}. Ask for it again then.`);
  }
}

/** A page of a list; which plugin brings an item is nothing to its clients. */
async function toPage<Item extends { readonly plugin?: unknown }>(
  asked: Promise<{ readonly items: readonly Item[]; readonly next?: string | undefined }>,
) {
  const { items, next } = await orProtocol(asked);
  return { items: items.map(({ plugin: _plugin, ...item }) => item), rest: omitUndefined({ nextCursor: next }) };
}

function readOutput(ended: Ended): Readonly<Record<string, unknown>> {
  if (ended.status !== 'success') throw new ProtocolError(ProtocolErrorCode.InternalError, sayFailure(ended));
  return isObject(ended.output) ? ended.output : {};
}

function toMessage(message: unknown): PromptMessage[] {
  if (!isObject(message)) return [];
  const { role, content } = message;
  const part = typeof content === 'string' ? { type: 'text', text: content } : toPart(content);
  const whole = { role, content: part };
  return isSpecType.PromptMessage(whole) ? [whole] : [];
}

function listOf<Item>(item: Item | undefined | false): Item[] {
  return item === undefined || item === false ? [] : [item];
}

async function orProtocol<Answer>(answer: Promise<Answer>, uri?: string): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    if (error.code === 'resource-unknown' && uri !== undefined) throw new ResourceNotFoundError(uri, error.message);
    throw toProtocolError(error);
  }
}
