import { isObject } from '../config/json-object.ts';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval } from '../permissions/approvals/approval-types.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import { createCoalescer } from '../queues/coalescer.ts';
import { raceAbort } from '../queues/race-abort.ts';
import type { McpPinTable } from '../store/tables/access/mcp-approvals.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';
import type { Connection, McpConnectionParts } from './connection.ts';
import { describeMcpUnit, isToolAllowed, nameMcpUnit, nameServerTool, usualTimeoutMs } from './mcp-unit.ts';
import { followResources, type ResourceNewsParts } from './offerings/follow-resources.ts';
import { hostOffering } from './offerings/hosted-offerings.ts';
import { readServerOfferings, type ServerOffering } from './offerings/read-offerings.ts';
import { commandItem, decidePins, hashAsked, listAsked, type PinDecision } from './pins.ts';
import { createServerQuestions } from './questions/server-questions.ts';
import { type HttpPlan, planServer, type StdioPlan } from './server-plan.ts';
import type { McpServer, McpServerState, McpServerView } from './server-types.ts';
import { readTools, type ServerTool } from './tools/read-tools.ts';
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

/** What a server brings. */
type Listed = ServerTool | ServerOffering;

const nothing: PinDecision<Listed> = { served: [], added: [], changed: [] };
/** List changes that come faster are followed together; those of a server that asks for another thing every time wait longer and longer. */
const refreshGapMs = 250;
const maxRefreshGapMs = 60_000;
const patientQuestions = 8;
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
  const refresh = createCoalescer(refreshTools, waitToRefresh);
  const followed = followResources(parts.resources, { connection: () => connection, signal: ending.signal });
  let state: McpServerState = 'connecting';
  let connection: Connection | undefined;
  let said = { era: undefined as Connection['era'] | undefined, protocolVersion: '', serverName: '', serverVersion: '' };
  let decision = nothing;
  /** Questions that took the place of one that nobody had answered yet, one soon after the other. */
  let restless = 0;
  let asked = { hash: '', atMs: 0 };
  let problems: readonly string[] = [];
  let lastError: string | undefined;
  let failures = 0;
  let sinceMs = parts.now();
  let published: string | undefined;
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
        said = connection;
        await refreshTools();
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

  async function refreshTools(): Promise<void> {
    if (connection === undefined) return;
    const from = connection;
    try {
      const [listed, others] = await Promise.all([from.listTools(ending.signal), from.listOfferings(ending.signal)]);
      if (from !== connection) return;
      const read = readTools(listed);
      const beside = readServerOfferings(name, others, {
        timeoutMs: setting.timeoutMs ?? usualTimeoutMs,
        canComplete: from.canComplete,
      });
      problems = [...read.problems, ...beside.problems];
      settle([...read.tools.filter((tool) => isToolAllowed(setting, tool.name)), ...beside.offerings]);
    } catch (error) {
      if (ending.signal.aborted) return;
      noteFailure(error);
      await from.close().catch(() => undefined);
    }
  }

  /** Brings what serves and what is asked in line with what was approved. */
  function settle(listed: readonly Listed[]): void {
    decision = decidePins(listed, pins.list(name));
    publish();
    if (listAsked(decision).length === 0) questions.withdraw();
    else askAgain();
    tell();
  }

  function waitToRefresh(): number {
    return Math.min(maxRefreshGapMs, refreshGapMs * 2 ** Math.max(0, restless - patientQuestions));
  }

  function askAgain(): void {
    const next = { hash: hashAsked(decision), atMs: parts.now() };
    if (next.hash !== asked.hash) {
      restless = next.atMs - asked.atMs < maxRefreshGapMs * 2 ? restless + 1 : 0;
      asked = next;
    }
    questions.askListed(decision, describeTarget(plan));
  }

  function publish(): void {
    const { serverVersion: version, serverName } = said;
    const about = `Tools of the MCP server ${name}${serverName === '' ? '' : `, which calls itself ${serverName}`}`;
    const tools = decision.served.filter((each) => each.kind === 'tool');
    const offerings = decision.served.filter((each) => each.kind !== 'tool').map((each) => hostOffering(each, askServer));
    const unit = describeMcpUnit(name, { setting, tools, version, about, offerings }, runTool);
    const next = `${unit.version}#${unit.contentHash}`;
    if (published === next) return;
    parts.hosted.put(unit);
    published = next;
    followed.poke();
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

  function nameTools(listed: readonly Listed[]): string[] {
    return listed.flatMap((each) => (each.kind === 'tool' ? [nameServerTool(name, each.name)] : []));
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
      ...(said.era === undefined
        ? {}
        : {
            era: said.era,
            protocolVersion: said.protocolVersion,
            serverName: said.serverName,
            serverVersion: said.serverVersion,
          }),
      tools: nameTools(decision.served),
      waitingTools: nameTools(listAsked(decision)),
      waitingOfferings: listAsked(decision).flatMap((each) => (each.kind === 'tool' ? [] : [nameOffering(each)])),
      problems,
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
      restless = 0;
      if (connection === undefined) wake();
      else void connection.close().catch(onFault).then(wake);
    },
    requireAsked: (approval) => void findAsked(approval),
    approveAsked(approval, by) {
      const approvedAtMs = parts.now();
      const found = findAsked(approval);
      const pin = (item: string, hash: string, definitionJson: string) => ({
        server: name,
        item,
        hash,
        definitionJson,
        approvedBy: by,
        approvedAtMs,
      });
      if (found === 'command') {
        pins.put([pin(commandItem, approval.argumentsHash, JSON.stringify(approval.details))]);
        return wake();
      }
      restless = 0;
      pins.put(found.map(({ item, hash, definitionJson }) => pin(item, hash, definitionJson)));
      settle([...decision.served, ...found]);
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
    if (hashAsked(decision) === argumentsHash) return listAsked(decision);
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

function nameOffering(offering: ServerOffering): string {
  return offering.kind === 'prompt' ? offering.manifest.name : offering.uri;
}
