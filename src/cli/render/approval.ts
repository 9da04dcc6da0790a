import type { ApprovalView } from '../../operations/contracts/access/approvals.ts';
import { cleanUntrustedText, describeUntrustedValue } from '../../permissions/untrusted-text.ts';
import type { Style } from './style.ts';
import { type Column, renderFacts, renderTable } from './table.ts';
import { formatTime } from './time-text.ts';

const reasons: Readonly<Record<ApprovalView['reason'], string>> = {
  permissions: 'it asks for permissions that it does not have',
  dangerous: 'the tool is marked isDangerous',
  hybrid: 'the tool asks a person before every call',
  confirm: 'the plugin asks while it runs',
  ask: 'the plugin asks its caller while it runs',
  hook: 'no hook runs before somebody approved its files',
  mcp: 'nothing of an MCP server runs before somebody approved it; its texts are its own words',
};

/** Open questions as a table, and how they are answered. */
export function renderApprovals(
  approvals: readonly ApprovalView[],
  { style, width, nowMs }: { readonly style: Style; readonly width: number | undefined; readonly nowMs: number },
): string {
  const isAnyEnded = approvals.some(({ status }) => status !== 'open');
  const columns: readonly Column<ApprovalView>[] = [
    { head: 'ID', text: (row) => row.id, paint: style.bold },
    { head: 'KIND', text: (row) => row.kind },
    ...(isAnyEnded ? [{ head: 'STATUS', text: (row: ApprovalView) => row.status }] : []),
    { head: 'PLUGIN', text: (row) => row.plugin },
    { head: 'TOOL', text: (row) => row.tool ?? '-' },
    { head: 'CAUSED BY', text: (row) => row.caller ?? '-' },
    { head: 'AGE', text: (row) => formatAge(nowMs - row.createdAtMs) },
    { head: 'QUESTION', text: quoteQuestion },
  ];
  return renderTable(approvals, columns, width);
}

/** One question with everything that a person needs to judge it. */
export function renderApproval(approval: ApprovalView, style: Style): string {
  const { plugin, tool, executionId, caller, session, details } = approval;
  const facts: [string, string | undefined][] = [
    ['plugin', plugin],
    ['tool', tool],
    ['why', reasons[approval.reason]],
    ['caused by', caller],
    ['session', session],
    ['execution', executionId],
    ...Object.entries(details).map(
      ([key, value]) => [cleanUntrustedText(key, 40), describeDetail(value)] satisfies [string, string],
    ),
    ['expires', formatTime(approval.expiresAtMs)],
  ];
  return `${style.yellow('?')} ${style.bold(quoteQuestion(approval))}\n${renderFacts(facts, style)}`;
}

/** The question on one line; the words of a plugin stand in quotes. */
export function quoteQuestion({ saidBy, question }: Pick<ApprovalView, 'saidBy' | 'question'>): string {
  const text = cleanUntrustedText(question);
  return saidBy === 'plugin' ? `the plugin says ${JSON.stringify(text)}` : text;
}

/** Text as it is where it hides nothing, everything else as JSON with its escapes. */
function describeDetail(value: unknown): string {
  if (typeof value === 'string' && cleanUntrustedText(value, value.length) === value) return value;
  return describeUntrustedValue(value, 2);
}

function formatAge(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
