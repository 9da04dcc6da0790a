import type { McpServerSetting } from '../config/settings/mcp-settings.ts';
import type { McpPinTable } from '../store/tables/access/mcp-approvals.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { HostedCall } from '../tools/hosted/hosted-types.ts';
import type { Connection } from './connection.ts';
import { describeMcpUnit, isToolAllowed, nameServerTool, usualTimeoutMs } from './mcp-unit.ts';
import { type AskServer, hostOffering } from './offerings/hosted-offerings.ts';
import { readServerOfferings, type ServerOffering } from './offerings/read-offerings.ts';
import { decidePins, hashAsked, listAsked, type PinDecision } from './pins.ts';
import type { ServerQuestions } from './questions/server-questions.ts';
import type { McpServerView } from './server-types.ts';
import { readTools, type ServerTool } from './tools/read-tools.ts';

/** What a server brings. */
export type Listed = ServerTool | ServerOffering;

/** What the list of a server is made of. */
export interface ServedListParts {
  readonly name: string;
  readonly setting: McpServerSetting;
  readonly target: string;
  readonly pins: Pick<McpPinTable, 'list'>;
  readonly questions: Pick<ServerQuestions, 'askListed' | 'withdraw'>;
  readonly hosted: Pick<HostedTools, 'put'>;
  readonly askServer: AskServer;
  readonly runTool: (tool: ServerTool, args: unknown, call: HostedCall) => Promise<unknown>;
  /** Other things serve than before. */
  readonly onServed: () => void;
  readonly now: () => number;
}

const refreshGapMs = 250;
const maxRefreshGapMs = 60_000;
const patientQuestions = 8;

/** Creates the list of a server; it is empty until a connection was read. */
export function createServedList(parts: ServedListParts) {
  const { name, setting, pins, questions } = parts;
  let decision: PinDecision<Listed> = { served: [], added: [], changed: [] };
  let problems: readonly string[] = [];
  let said = { serverName: '', serverVersion: '' };
  let published: string | undefined;
  /** Questions that took the place of one that nobody had answered yet, one soon after the other. */
  let restless = 0;
  let asked = { hash: '', atMs: 0 };

  function settle(listed: readonly Listed[]): void {
    decision = decidePins(listed, pins.list(name));
    publish();
    if (listAsked(decision).length === 0) questions.withdraw();
    else askAgain();
  }

  function askAgain(): void {
    const next = { hash: hashAsked(decision), atMs: parts.now() };
    if (next.hash !== asked.hash) {
      restless = next.atMs - asked.atMs < maxRefreshGapMs * 2 ? restless + 1 : 0;
      asked = next;
    }
    questions.askListed(decision, parts.target);
  }

  function publish(): void {
    const { serverVersion: version, serverName } = said;
    const about = `Tools of the MCP server ${name}${serverName === '' ? '' : `, which calls itself ${serverName}`}`;
    const tools = decision.served.filter((each) => each.kind === 'tool');
    const offerings = decision.served.filter((each) => each.kind !== 'tool').map((each) => hostOffering(each, parts.askServer));
    const unit = describeMcpUnit(name, { setting, tools, version, about, offerings }, parts.runTool);
    const next = `${unit.version}#${unit.contentHash}`;
    if (published === next) return;
    parts.hosted.put(unit);
    published = next;
    parts.onServed();
  }

  function nameTools(listed: readonly Listed[]): string[] {
    return listed.flatMap((each) => (each.kind === 'tool' ? [nameServerTool(name, each.name)] : []));
  }

  return {
    /** Reads what a connection lists, and brings what serves and what is asked in line with it. Rejects as the connection does. */
    async read(from: Connection, isOver: () => boolean, signal: AbortSignal): Promise<void> {
      const [listed, others] = await Promise.all([from.listTools(signal), from.listOfferings(signal)]);
      if (isOver()) return;
      said = from;
      const read = readTools(listed);
      const { timeoutMs = usualTimeoutMs } = setting;
      const beside = readServerOfferings(name, others, { timeoutMs, canComplete: from.canComplete });
      problems = [...read.problems, ...beside.problems];
      settle([...read.tools.filter((tool) => isToolAllowed(setting, tool.name)), ...beside.offerings]);
    },
    /** What people are asked about, as long as that is what an approval is for. */
    findAsked: (argumentsHash: string): readonly Listed[] | undefined =>
      hashAsked(decision) === argumentsHash ? listAsked(decision) : undefined,
    /** Somebody approved all that was asked: it is pinned. */
    serve(approved: readonly Listed[]): void {
      restless = 0;
      settle([...decision.served, ...approved]);
    },
    /** So long list changes are followed together: longer and longer for a server that asks for another thing every time. */
    gapMs: (): number => Math.min(maxRefreshGapMs, refreshGapMs * 2 ** Math.max(0, restless - patientQuestions)),
    /** A person looked after the server. */
    calm(): void {
      restless = 0;
    },
    view(): Pick<McpServerView, 'tools' | 'waitingTools' | 'waitingOfferings' | 'problems'> {
      const waiting = listAsked(decision);
      return {
        tools: nameTools(decision.served),
        waitingTools: nameTools(waiting),
        waitingOfferings: waiting.flatMap((each) => (each.kind === 'tool' ? [] : [nameOffering(each)])),
        problems: [...problems],
      };
    },
  };
}

function nameOffering(offering: ServerOffering): string {
  return offering.kind === 'prompt' ? offering.manifest.name : offering.uri;
}
