import {
  type CallToolResult,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ResourceWatches } from '../events/resource-watches.ts';
import type { Ask } from '../operations/ask.ts';
import { type Ended, sayFailure } from '../operations/calling/call-content.ts';
import type { ToolBooks } from '../operations/calling/tool-book.ts';
import { toolContracts } from '../operations/contracts/tools.ts';
import { maxUriChars } from '../units/uri-template.ts';
import { readAbilities, tasksExtension } from './client-abilities.ts';
import { describeTool, sayElsewhere, toProtocolError, toToolResult } from './content.ts';
import { registerOffers } from './offer-handlers.ts';
import type { RequestState } from './request-state.ts';
import { runCall } from './run-call.ts';
import { createTask, lacksTasks, registerTasks } from './tasks.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** What every server of the door is made with. */
export interface ServerParts {
  readonly version: string;
  readonly ask: Ask;
  readonly books: ToolBooks;
  readonly codec: RequestStateCodec<RequestState>;
  readonly waiting: WaitingCalls;
  readonly holdMs: number;
  readonly watches: ResourceWatches;
  readonly log: Logger;
}

/** Whom one server serves. */
export interface ServedClient {
  readonly caller: Caller;
  /** The session of a client of the older era; calls of one session share their session cells. */
  readonly session?: string;
}

const instructions =
  'Tools of this server come and go while you are connected: what you were told of may be gone, and there may be more. ' +
  'search_tools finds tools by what they do, call_tool calls one that is not in your list.';

/** A server, and the resources that its client watches; absent where it has no lists that change. */
export interface OpenServer {
  readonly server: Server;
  readonly watched?: Pick<ReadonlySet<string>, 'has'>;
}

/** So many resources one session, or one stream of a client without sessions, may watch. */
export const maxWatched = quotas['mcp.watched'].each.max;

/** A server for one client: it can see and do what the key of that client can. */
export function openProtocolServer(parts: ServerParts, client: ServedClient): OpenServer {
  const { ask, books, codec, waiting } = parts;
  const { caller, session } = client;
  const listed = { listChanged: true };
  const server = new Server(
    { name: 'hotcell', version: parts.version },
    {
      instructions,
      capabilities: {
        tools: listed,
        prompts: listed,
        resources: { ...listed, subscribe: true },
        completions: {},
        logging: {},
        extensions: { [tasksExtension]: {} },
      },
      requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
      // Clients of the older era are asked by the call itself, which goes on when they give up.
      inputRequired: { legacyShim: false },
    },
  );
  server.onerror = (error) => parts.log.debug({ err: error, caller: caller.id }, 'an MCP request failed');

  const callParts = { ask, caller, waiting, holdMs: parts.holdMs, seal: codec.mint };

  server.setRequestHandler('tools/list', async () => {
    const { tools } = await books.read(caller);
    return { tools: tools.map(({ name, view }) => describeTool(view, name)) };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const view = (await books.read(caller)).find(params.name);
    const ref = view?.name ?? params.name;
    const said = readAbilities(server, ctx);
    if (view?.task === 'required' && !said.tasks) throw lacksTasks();
    const can = view?.task === 'never' ? { ...said, tasks: false } : said;
    const outcome = await runCall(
      { ...callParts, can },
      {
        method: 'tools/call',
        name: params.name,
        args: params.arguments,
        start: (context) =>
          ask(
            toolContracts.call,
            { ref, arguments: params.arguments ?? {}, ...(session === undefined ? {} : { session }) },
            context,
          ),
      },
      ctx,
    ).catch(refuseCall);
    if ('content' in outcome) return outcome;
    if (outcome.kind === 'input') return outcome.result;
    if (outcome.kind === 'elsewhere') return sayElsewhere(outcome.questions);
    if (outcome.kind === 'ended') requireAbility(outcome.ended, ctx);
    if (outcome.kind === 'ended') return server.projectCallToolResult(toToolResult(outcome.ended, view?.output), view?.output);
    const task = await createTask(outcome.executionId, { ask, can, context: { caller, signal: ctx.mcpReq.signal } });
    return { content: [], ...task };
  });
  registerOffers(server, callParts, session);
  registerTasks(server, { ask, caller, books });
  return { server, watched: session === undefined ? new Set() : serveSubscriptions(server, parts.watches) };
}

/** What a model can mend is a result that it reads; a tool that is not there is an error of the protocol. */
function refuseCall(error: unknown): CallToolResult {
  if (!(error instanceof HotcellError)) throw error;
  if (error.code === 'tool-unknown') throw toProtocolError(error);
  return { isError: true, content: [{ type: 'text', text: sayFailure({ status: 'error', error }) }] };
}

/** How a plugin's own words begin where it did not catch that its client cannot be asked. */
const lacking = /^context\.client\.(createMessage|listRoots) is not possible/;

/** Clients of the era without sessions say with every request what they can: what lacked is told in the words of the protocol. */
function requireAbility({ error }: Ended, { mcpReq }: ServerContext): void {
  const [, member] = lacking.exec(error?.message ?? '') ?? [];
  if (member === undefined || mcpReq.envelope === undefined) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: member === 'listRoots' ? { roots: {} } : { sampling: {} },
  });
}

/** What a session wants to hear of; clients without sessions say it with each of their streams. */
function serveSubscriptions(server: Server, watches: ResourceWatches): ReadonlyMap<string, () => void> {
  const watched = new Map<string, () => void>();
  server.onclose = () => {
    for (const end of watched.values()) end();
    watched.clear();
  };
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    const kept = uri.slice(0, maxUriChars);
    if (watched.has(kept)) return {};
    if (watched.size >= maxWatched)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `A session may watch ${maxWatched} resources.`);
    watched.set(kept, watches.watch(kept));
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.get(uri)?.();
    watched.delete(uri);
    return {};
  });
  return watched;
}
