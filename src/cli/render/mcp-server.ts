import type { McpServerView } from '../../mcp-servers/server-types.ts';
import { cleanUntrustedText } from '../../permissions/untrusted-text.ts';
import type { Style } from './style.ts';
import { type Column, renderFacts } from './table.ts';
import { formatTime } from './time-text.ts';

/** The columns of a list of MCP servers. */
export function listServerColumns(style: Style): readonly Column<McpServerView>[] {
  return [
    { head: 'NAME', text: (row) => row.name, paint: style.bold },
    { head: 'STATE', text: (row) => row.state },
    { head: 'BY', text: (row) => row.transport },
    { head: 'ERA', text: (row) => row.era ?? '-' },
    { head: 'TOOLS', text: (row) => String(row.tools.length) },
    { head: 'WAITING', text: (row) => String(listWaiting(row).length || '-') },
    { head: 'LAST ERROR', text: (row) => cleanUntrustedText(row.lastError ?? '-', 200) },
  ];
}

function listWaiting({ waitingTools, waitingOfferings }: McpServerView): readonly string[] {
  return [...waitingTools, ...waitingOfferings];
}

/** What is to be done so that a server serves all it has. */
function sayNext(server: McpServerView): string | undefined {
  const { name, state } = server;
  if (state === 'waiting' || listWaiting(server).length > 0) return `hotcell approve ${name}`;
  if (state === 'login') return `hotcell mcp login ${name}`;
  return state === 'failed' ? `hotcell mcp restart ${name}` : undefined;
}

/** One MCP server, and why it is as it is. */
export function renderMcpServer(server: McpServerView, style: Style): string {
  const { name, state, target, transport, era, protocolVersion, serverName = '', serverVersion = '', lastError } = server;
  const shown = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : texts.map((text) => cleanUntrustedText(text, 200)).join('\n');
  const facts: [string, string | undefined][] = [
    ['since', formatTime(server.sinceMs)],
    ['reached by', `${transport}: ${cleanUntrustedText(target, 500)}`],
    ['calls itself', serverName === '' ? undefined : cleanUntrustedText(`${serverName} ${serverVersion}`, 200)],
    ['protocol', era === undefined ? undefined : `${protocolVersion ?? ''} (${era})`],
    ['last error', lastError === undefined ? undefined : cleanUntrustedText(lastError, 500)],
    ['tools', shown(server.tools)],
    ['to be approved', shown(listWaiting(server))],
    ['left out', shown(server.problems)],
    ['next', sayNext(server)],
  ];
  return `${style.bold(name)} is ${state}.\n\n${renderFacts(facts, style, '')}`;
}
