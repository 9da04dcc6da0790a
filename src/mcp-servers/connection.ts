import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallToolResult,
  Client,
  type ElicitResult,
  type LoggingMessageNotification,
  type Progress,
  type RequestOptions,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import type { CheckedFetch } from '../capabilities/network/checked-fetch.ts';
import { omitUndefined } from '../config/json-object.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { cleanUntrustedText } from '../permissions/untrusted-text.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';
import { describeCallFailure, describeConnectFailure, isLost, sayProblem } from './failures.ts';
import type { ListedOfferings } from './offerings/read-offerings.ts';
import { createResourceWatcher } from './offerings/resource-watcher.ts';
import type { AskForm } from './questions/answer-form.ts';
import { type AskModelForCall, createServerSampling } from './questions/answer-sampling.ts';
import type { ReceivedBytes } from './transport/stream-bounds.ts';

/** What is asked of a server beside calls of its tools. */
export type ServerRequests = Pick<Client, 'getPrompt' | 'readResource' | 'complete'>;

/** What a connection is opened with. */
export interface McpConnectionParts {
  readonly name: string;
  readonly version: string;
  readonly transport: Transport;
  readonly received: ReceivedBytes;
  /** Whether the newer era is tried first. */
  readonly isNewerTried: boolean;
  readonly connectMs: number;
  /** So long the answer to the question for the newer era is waited for. */
  readonly probeMs: number;
  /** Must not throw. */
  readonly onToolsChanged: () => void;
  /** Must not throw. */
  readonly onResourceUpdated: (uri: string) => void;
  readonly askForm: AskForm;
  readonly askModel: AskModelForCall;
  /** Whether the server may ask for a model, and which one it then gets; the default where it is true. */
  readonly sampling: boolean | string | undefined;
  readonly signal: AbortSignal;
}

const maxPages = 50;
const maxListBytes = 16 * 1024 * 1024;
/** The journey of a call has its own clock, which stops while a person is asked. */
const noTimeoutMs = 2 ** 31 - 1;

/** Answers also what it did not promise to: a server that asks for a model all the same reads which setting allows it. */
class AnsweringClient extends Client {
  protected override assertRequestHandlerCapability(): void {}
}

/** A connection to a server, in either era. */
export type Connection = Awaited<ReturnType<typeof openConnection>>;

/** A client that hears what a server asks and tells of the calls under way. */
function createClient(parts: McpConnectionParts, findCall: () => HostedCall | undefined): Client {
  const onChanged = { autoRefresh: false, debounceMs: 0, onChanged: parts.onToolsChanged } as const;
  const sampling = createServerSampling(parts.name, parts.sampling, parts.askModel);
  const client = new AnsweringClient(
    { name: 'hotcell', version: parts.version },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, ...(sampling.isAllowed ? { sampling: {} } : {}) },
      versionNegotiation: { mode: parts.isNewerTried ? 'auto' : 'legacy', probe: { timeoutMs: parts.probeMs } },
      listMaxPages: maxPages,
      listChanged: { tools: onChanged, prompts: onChanged, resources: onChanged },
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }): Promise<ElicitResult> => {
    const call = findCall();
    if (call === undefined || 'url' in params) return { action: 'decline' };
    return parts.askForm({ message: params.message, schema: params.requestedSchema }, call);
  });
  client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
    sampling.answer(params, findCall(), mcpReq.signal),
  );
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const call = findCall();
    if (call !== undefined) logMessage(call, params);
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => parts.onResourceUpdated(params.uri));
  return client;
}

/** Opens a connection: the newer era when the server speaks it. Rejects with whatever the library or the transport says. */
export async function openConnection(parts: McpConnectionParts) {
  const { name, transport, received, signal, connectMs } = parts;
  const running = new Set<HostedCall>();
  const over = Promise.withResolvers<string>();
  let lastProblem: string | undefined;
  let closedBecause: string | undefined;
  // The only call under way is meant where the transport does not say which one.
  const client = createClient(parts, () => runningCall.getStore()?.call ?? (running.size === 1 ? [...running][0] : undefined));
  client.onerror = (error) => {
    lastProblem = sayProblem(error);
  };
  client.onclose = () => {
    closedBecause = lastProblem ?? 'The server closed the connection.';
    over.resolve(closedBecause);
  };
  await client.connect(transport, { signal, timeout: connectMs });
  const info = client.getServerVersion();
  const capabilities = client.getServerCapabilities() ?? {};
  const era = client.getProtocolEra() === 'modern' ? ('2026-07-28' as const) : ('2025-11-25' as const);
  if (era === '2025-11-25' && capabilities.logging !== undefined) {
    await client.setLoggingLevel('info', { signal, timeout: connectMs }).catch(() => undefined);
  }
  // News of the newer era come on a stream of their own: without it the connection is made anew.
  void client.autoOpenedSubscription?.closed.then((why) => {
    if (why !== 'local') void client.close();
  });

  async function ask<Value>(
    call: HostedCall,
    send: (client: ServerRequests, options: RequestOptions) => Promise<Value>,
  ): Promise<Value> {
    const ending = new AbortController();
    running.add(call);
    const options: RequestOptions = {
      signal: call.signal,
      timeout: noTimeoutMs,
      maxTotalTimeout: noTimeoutMs,
      onprogress: (progress) => call.onProgress(readProgress(progress)),
    };
    try {
      return await runningCall.run({ call, over: ending.signal }, () => send(client, options));
    } catch (error) {
      call.signal.throwIfAborted();
      const failure = describeCallFailure(error, name, closedBecause);
      if (isLost(error)) void client.close();
      throw failure;
    } finally {
      running.delete(call);
      ending.abort();
    }
  }

  /** Asks for a list. Rejects with a HotcellError, or with the reason of the signal. */
  async function list<Value>(
    what: string,
    listSignal: AbortSignal,
    read: (options: RequestOptions & { readonly cacheMode: 'refresh' }) => Promise<Value>,
  ): Promise<Value> {
    const flooded = new AbortController();
    const endWatch = received.watch(maxListBytes, () => flooded.abort());
    try {
      return await read({ signal: AbortSignal.any([listSignal, flooded.signal]), timeout: connectMs, cacheMode: 'refresh' });
    } catch (error) {
      listSignal.throwIfAborted();
      if (flooded.signal.aborted) throw new HotcellError('mcp-unreachable', `Its ${what} take more than ${maxListBytes} bytes.`);
      throw describeConnectFailure(error, name);
    } finally {
      endWatch();
    }
  }

  return {
    era,
    /** What the server says of itself. */
    serverName: cleanUntrustedText(info?.title ?? info?.name ?? '', 100),
    serverVersion: info?.version ?? '',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    /** Of the process, where it is one. */
    pid: 'pid' in transport && typeof transport.pid === 'number' ? transport.pid : undefined,
    listTools: async (listSignal: AbortSignal): Promise<readonly Tool[]> =>
      capabilities.tools === undefined
        ? []
        : list('tools', listSignal, async (options) => (await client.listTools(undefined, options)).tools),
    /** What it lists beside tools; nothing of what it does not have. */
    listOfferings: (listSignal: AbortSignal): Promise<ListedOfferings> =>
      list('prompts and resources', listSignal, async (options) => {
        const [prompts, resources, templates] = await Promise.all([
          capabilities.prompts === undefined ? [] : client.listPrompts(undefined, options).then((listed) => listed.prompts),
          capabilities.resources === undefined ? [] : client.listResources(undefined, options).then((listed) => listed.resources),
          // A server with resources need not know the question for templates.
          capabilities.resources === undefined
            ? []
            : client.listResourceTemplates(undefined, options).then(
                (listed) => listed.resourceTemplates,
                () => [],
              ),
        ]);
        return { prompts, resources, templates };
      }),
    /** Has it tell of changes of exactly these resources; what it cannot tell of is left out. Rejects only by the signal. */
    watchResources: createResourceWatcher({
      client,
      era,
      canWatch: capabilities.resources?.subscribe === true,
      timeoutMs: connectMs,
    }),
    /** Whether it knows what can stand for the argument of a prompt or a template. */
    canComplete: capabilities.completions !== undefined,
    /** Rejects with a HotcellError, or with the reason of the signal. */
    callTool: (
      tool: Pick<Tool, 'name' | 'inputSchema'>,
      args: Readonly<Record<string, unknown>>,
      call: HostedCall,
    ): Promise<CallToolResult> =>
      ask(call, (_client, options) =>
        client.callTool({ name: tool.name, arguments: args }, { ...options, toolDefinition: tool }),
      ),
    /** Asks the server for something on behalf of a call. Rejects as `callTool` does. */
    ask,
    /** Resolves when it is over, with the reason as a sentence. */
    closed: over.promise,
    close: (): Promise<void> => client.close(),
  };
}

function readProgress({ progress, total, message }: Progress) {
  return { done: progress, ...omitUndefined({ total, message: message && cleanUntrustedText(message, 500) }) };
}

const warnLevels: ReadonlySet<string> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

function logMessage(call: HostedCall, { level, data }: LoggingMessageNotification['params']): void {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  call.onOutput(warnLevels.has(level) ? 'stderr' : 'stdout', Buffer.from(`${cleanUntrustedText(text, 4000)}\n`));
}

/** The call for which something is sent and received. */
export interface RunningCall {
  readonly call: HostedCall;
  /** Aborts when the call is over, however it ended. */
  readonly over: AbortSignal;
}

/** Whatever runs within a call of a server's tool knows which one. */
export const runningCall = new AsyncLocalStorage<RunningCall>();

const callMethods = /"method":"(?:tools\/call|prompts\/get|resources\/read|completion\/complete)"/;

/** Ends the stream of a call with the call: the older era leaves it open for as long as the server likes. */
export function endWithCall(fetch: CheckedFetch): CheckedFetch {
  return (url, init = {}) => {
    const over = runningCall.getStore()?.over;
    const isOfCall = init.method === 'GET' || (typeof init.body === 'string' && callMethods.test(init.body));
    if (over === undefined || !isOfCall) return fetch(url, init);
    const { signal } = init;
    return fetch(url, { ...init, signal: signal == null ? over : AbortSignal.any([signal, over]) });
  };
}
