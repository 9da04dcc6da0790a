import { isObject } from '../config/json-object.ts';
import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approval, Approvals } from '../permissions/approvals/approval-types.ts';
import { raceAbort } from '../queues/race-abort.ts';
import type { McpPinTable } from '../store/mcp-types.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';
import { createCoalescer } from './coalesce.ts';
import type { Connection, McpConnectionParts } from './connection.ts';
import { describeMcpUnit, isToolAllowed, nameMcpUnit, nameServerTool, usualTimeoutMs } from './mcp-unit.ts';
import { followResources, type ResourceNewsParts } from './offerings/follow-resources.ts';
import { hostOffering } from './offerings/hosted-offerings.ts';
import { readServerOfferings, type ServerOffering } from './offerings/read-offerings.ts';
import { createServerQuestions } from './questions/server-questions.ts';
import { type HttpPlan, planServer, type StdioPlan } from './server-plan.ts';
import type { McpServer, McpServerState, McpServerView } from './server-types.ts';
import { commandItem, decidePins, hashAsked, itemOfTool, offeringsItem, type PinDecision } from './tools/pins.ts';
import { readTools, type ServerTool } from './tools/read-tools.ts';
import { readResult } from './tools/results.ts';

/** What a server is made of. */
export interface McpServerParts {
  readonly name: string;
  readonly setting: McpServerSetting;
  readonly pins: McpPinTable;
  readonly approvals: Pick<Approvals, 'ask' | 'withdraw' | 'list'>;
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

const nobody: PinDecision = { served: [], added: [], changed: [] };
/** List changes that come faster are followed together. */
const refreshGapMs = 250;
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
  const refresh = createCoalescer(refreshTools, refreshGapMs);
  const followed = followResources(parts.resources, { connection: () => connection, signal: ending.signal });
  let state: McpServerState = 'connecting';
  let connection: Connection | undefined;
  let said = { era: undefined as Connection['era'] | undefined, protocolVersion: '', serverName: '', serverVersion: '' };
  let decision = nobody;
  let offerings: readonly ServerOffering[] = [];
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
    const facts = [now.state, now.tools.length, now.waitingTools.length].join();
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
      offerings = readServerOfferings(name, others, {
        timeoutMs: setting.timeoutMs ?? usualTimeoutMs,
        canComplete: from.canComplete,
      });
      problems = read.problems;
      settle(read.tools.filter((tool) => isToolAllowed(setting, tool.name)));
    } catch (error) {
      if (ending.signal.aborted) return;
      noteFailure(error);
      await from.close().catch(() => undefined);
    }
  }

  function areOfferingsApproved(): boolean {
    return pins.list(name).some(({ item }) => item === offeringsItem);
  }

  /** Brings what serves and what is asked in line with what was approved. */
  function settle(tools: readonly ServerTool[]): void {
    decision = decidePins(tools, pins.list(name));
    publish();
    const asked = areOfferingsApproved() ? [] : offerings;
    const shown = asked.map((each) => ('prompt' in each ? each.manifest.name : each.uri));
    if (decision.added.length + decision.changed.length + asked.length === 0) questions.withdraw();
    else questions.askTools(decision, { target: describeTarget(plan), offerings: shown });
    tell();
  }

  function publish(): void {
    const { serverVersion: version, serverName } = said;
    const about = `Tools of the MCP server ${name}${serverName === '' ? '' : `, which calls itself ${serverName}`}`;
    const hosted = areOfferingsApproved() ? offerings.map((each) => hostOffering(each, askServer)) : [];
    const unit = describeMcpUnit(name, { setting, tools: decision.served, version, about, offerings: hosted }, runTool);
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
      tools: decision.served.map((tool) => nameServerTool(name, tool.name)),
      waitingTools: [...decision.added, ...decision.changed.map(({ tool }) => tool)].map((tool) =>
        nameServerTool(name, tool.name),
      ),
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
      if (connection === undefined) wake();
      else void connection.close().catch(onFault).then(wake);
    },
    requireAsked: (approval) => void findAsked(approval),
    approveAsked(approval, by) {
      const approvedAtMs = parts.now();
      const asked = findAsked(approval);
      const pin = (item: string, hash: string, definitionJson: string) => ({
        server: name,
        item,
        hash,
        definitionJson,
        approvedBy: by,
        approvedAtMs,
      });
      if (asked === 'command') {
        pins.put([pin(commandItem, approval.argumentsHash, JSON.stringify(approval.details))]);
        return wake();
      }
      const others = offerings.length > 0 ? [pin(offeringsItem, '', '{}')] : [];
      pins.put([...asked.map((tool) => pin(itemOfTool(tool.name), tool.hash, tool.definitionJson)), ...others]);
      settle([...decision.served, ...asked]);
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
  function findAsked({ argumentsHash }: Approval): 'command' | readonly ServerTool[] {
    if (plan.by === 'stdio' && plan.commandHash === argumentsHash) return 'command';
    const withOfferings = offerings.length > 0 && !areOfferingsApproved();
    if (hashAsked(decision, withOfferings) === argumentsHash)
      return [...decision.added, ...decision.changed.map(({ tool }) => tool)];
    throw new HotcellError('conflict', `The MCP server "${name}" does not ask for that any more.`, {
      fix: 'Look at what it asks for now: hotcell approve.',
    });
  }
}

function describeTarget(plan: ReturnType<typeof planServer>): string {
  if (plan.by === 'http') return plan.url.href;
  return plan.by === 'stdio' ? [plan.command, ...plan.args].join(' ') : '';
}
