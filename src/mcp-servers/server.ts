import { createCoalescer } from '../concurrency/coalescer.ts';
import { raceAbort } from '../concurrency/race-abort.ts';
import { isObject } from '../config/json-object.ts';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { McpPinTable } from '../store/tables/access/mcp-approvals.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';
import type { Connection, McpConnectionParts } from './connection.ts';
import { nameMcpUnit } from './mcp-unit.ts';
import { followResources, type ResourceNewsParts } from './offerings/follow-resources.ts';
import { commandItem } from './pins.ts';
import { createServerQuestions } from './questions/server-questions.ts';
import { createServedList, type Listed } from './served-list.ts';
import { type HttpPlan, planServer, type StdioPlan } from './server-plan.ts';
import type { McpServer, McpServerState, McpServerView } from './server-types.ts';
import type { ServerTool } from './tools/read-tools.ts';
import { readResult } from './tools/results.ts';

/** What a server is made of. */
export interface McpServerParts {
  readonly name: string;
  readonly setting: McpServerSetting;
  readonly pins: McpPinTable;
  readonly approvals: Pick<Approvals, 'askIfRoom' | 'withdraw' | 'listOpen'>;
  readonly hosted: Pick<HostedTools, 'put' | 'remove'>;
  readonly connect: (
    plan: StdioPlan | HttpPlan,
    options: Pick<McpConnectionParts, 'signal' | 'onToolsChanged' | 'onResourceUpdated' | 'sampling'>,
  ) => Promise<Connection>;
  /** Told when its state, or the number of its tools, is another one. Must not throw. */
  readonly onChange: (view: McpServerView, previousState: McpServerState) => void;
  readonly resources: ResourceNewsParts;
  /** Epoch ms. */
  readonly now: () => number;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}

const firstBackOffMs = 250;
const maxBackOffMs = 60_000;
/** A connection that lasted so long was a good one. */
const goodMs = 10_000;

/** Starts a server: it is connected to as soon as what it is made of was approved, and again whenever it is lost. */
export function startMcpServer(parts: McpServerParts): McpServer {
  const { name, setting, pins, onFault } = parts;
  const plan = planServer(name, setting);
  const questions = createServerQuestions(name, parts.approvals);
  const ending = new AbortController();
  const list = createServedList({
    ...parts,
    target: describeTarget(plan),
    questions,
    askServer,
    runTool,
    onServed: () => followed.poke(),
  });
  const refresh = createCoalescer(readList, list.gapMs);
  const followed = followResources(parts.resources, { connection: () => connection, signal: ending.signal });
  let state: McpServerState = 'connecting';
  let connection: Connection | undefined;
  let said: Partial<Pick<Connection, 'era' | 'protocolVersion' | 'serverName' | 'serverVersion'>> = {};
  let lastError: string | undefined;
  let failures = 0;
  let sinceMs = parts.now();
  let told: { readonly facts: string; readonly state: McpServerState } = { facts: '', state };
  /** Wakes whatever waits: an approval came, or somebody wants the server now. */
  let woken = Promise.withResolvers<void>();
  let settled = Promise.withResolvers<void>();
  const life = live().catch(onFault);

  function become(next: McpServerState, error?: string): void {
    if (state !== next) sinceMs = parts.now();
    state = next;
    lastError = error;
    if (next !== 'connecting') {
      settled.resolve();
      settled = Promise.withResolvers();
    }
    tell();
  }

  function tell(): void {
    const now = view();
    const facts = [now.state, now.tools.length, now.waitingTools.length, now.waitingOfferings.length].join();
    if (facts === told.facts) return;
    const { state: previous } = told;
    told = { facts, state: now.state };
    parts.onChange(now, previous);
  }

  function wake(): void {
    woken.resolve();
    woken = Promise.withResolvers();
  }

  /** Its whole life: approved, connected, lost, connected again. */
  async function live(): Promise<void> {
    if (setting.enabled === false) return become('disabled');
    if (plan.by === 'nothing') return become('invalid', plan.reason);
    const { signal } = ending;
    while (!signal.aborted) {
      if (plan.by === 'stdio' && !isCommandApproved(plan)) {
        questions.askCommand(plan);
        become('waiting');
        await sleep(undefined);
        continue;
      }
      become('connecting', lastError);
      const startedAtMs = performance.now();
      try {
        connection = await parts.connect(plan, {
          signal,
          onToolsChanged: refresh.poke,
          onResourceUpdated: followed.note,
          sampling: setting.sampling,
        });
        const { era, protocolVersion, serverName, serverVersion } = connection;
        said = { era, protocolVersion, serverName, serverVersion };
        await readList();
        become('ready');
        followed.poke();
        lastError = await connection.closed;
      } catch (error) {
        noteFailure(error);
        const wantsLogin = error instanceof HotcellError && error.facts.wantsLogin === true;
        if (wantsLogin && !signal.aborted) {
          become('login', lastError);
          await sleep(undefined);
          continue;
        }
      }
      await connection?.close().catch(() => undefined);
      connection = undefined;
      if (signal.aborted) return;
      failures = performance.now() - startedAtMs > goodMs ? 0 : failures + 1;
      become('failed', lastError);
      await sleep(Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(failures, 20)));
    }
  }

  function noteFailure(error: unknown): void {
    if (!(error instanceof HotcellError)) onFault(error);
    lastError = error instanceof HotcellError ? error.message : 'The daemon failed; its log says why.';
  }

  async function sleep(ms: number | undefined): Promise<void> {
    const timer = ms === undefined ? undefined : setTimeout(wake, ms);
    await woken.promise;
    clearTimeout(timer);
  }

  function isCommandApproved({ commandHash }: StdioPlan): boolean {
    return pins.list(name).some(({ item, hash }) => item === commandItem && hash === commandHash);
  }

  async function readList(): Promise<void> {
    if (connection === undefined) return;
    const from = connection;
    try {
      await list.read(from, () => from !== connection, ending.signal);
      tell();
    } catch (error) {
      if (ending.signal.aborted) return;
      noteFailure(error);
      await from.close().catch(() => undefined);
    }
  }

  async function runTool(tool: ServerTool, args: unknown, call: HostedCall): Promise<unknown> {
    const wanted = isObject(args) ? args : {};
    const result = await askServer(call, (there) => there.callTool(tool.called, wanted, call));
    return readResult(result, tool.output !== undefined);
  }

  async function askServer<Value>(call: HostedCall, ask: (there: Connection) => Promise<Value>): Promise<Value> {
    try {
      return await ask(await findConnection(call.signal));
    } catch (error) {
      // The server does not know the connection, or was not there: nothing was done.
      if (!(error instanceof HotcellError && error.facts.neverBegun === true)) throw error;
      return await ask(await findConnection(call.signal));
    }
  }

  /** A call does not wait for the back-off, but for one attempt. */
  async function findConnection(signal: AbortSignal): Promise<Connection> {
    await raceAbort(Promise.resolve(), signal);
    if (state === 'ready' && connection !== undefined) return connection;
    if (state === 'failed') {
      state = 'connecting';
      wake();
    }
    if (state === 'connecting') await raceAbort(settled.promise, signal);
    if (state === 'ready' && connection !== undefined) return connection;
    throw new HotcellError('mcp-unreachable', `The MCP server "${name}" is not there: ${lastError ?? state}`);
  }

  function view(): McpServerView {
    return {
      name,
      state,
      target: describeTarget(plan),
      transport: plan.by === 'http' ? (plan.transport ?? 'http') : 'stdio',
      ...said,
      ...list.view(),
      ...(lastError === undefined ? {} : { lastError }),
      failures,
      sinceMs,
      ...(connection?.pid === undefined ? {} : { pid: connection.pid }),
    };
  }

  return {
    setting,
    view,
    restart() {
      questions.startOver();
      failures = 0;
      list.calm();
      if (connection === undefined) wake();
      else void connection.close().catch(onFault).then(wake);
    },
    requireAsked: (approval) => void findAsked(approval),
    approveAsked(approval, by) {
      const found = findAsked(approval);
      const { argumentsHash, details } = approval;
      const command = { item: commandItem, hash: argumentsHash, definitionJson: JSON.stringify(details) };
      const approved = { server: name, approvedBy: by, approvedAtMs: parts.now() };
      const asked = found === 'command' ? [command] : found;
      pins.put(asked.map(({ item, hash, definitionJson }) => ({ ...approved, item, hash, definitionJson })));
      if (found === 'command') return wake();
      list.serve(found);
      tell();
    },
    async close({ isGone }) {
      ending.abort();
      refresh.close();
      followed.close();
      wake();
      await connection?.close().catch(() => undefined);
      await life;
      if (isGone) questions.withdraw();
      parts.hosted.remove(nameMcpUnit(name));
    },
  };

  /** What an approval is about, as it is now. */
  function findAsked({ argumentsHash }: Approval): 'command' | readonly Listed[] {
    if (plan.by === 'stdio' && plan.commandHash === argumentsHash) return 'command';
    const listed = list.findAsked(argumentsHash);
    if (listed !== undefined) return listed;
    throw new HotcellError('conflict', `The MCP server "${name}" does not ask for that any more.`, {
      fix: 'Look at what it asks for now: hotcell approve.',
    });
  }
}

function describeTarget(plan: ReturnType<typeof planServer>): string {
  if (plan.by === 'http') return plan.url.href;
  if (plan.by === 'nothing') return '';
  const line = [plan.command, ...plan.args].join(' ');
  return plan.image === undefined ? line : `${line} (in a container of ${plan.image})`;
}
