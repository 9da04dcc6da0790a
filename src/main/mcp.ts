import type { CapabilityTable } from '../border/capability.ts';
import { createMcpBook, type McpBook } from '../mcp/mcp-book.ts';
import { createFormByConfirm } from '../mcp/questions/answer-form.ts';
import { startMcpServer } from '../mcp/server.ts';
import { createMcpNetwork } from '../mcp/transport/mcp-network.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { Consents } from './consents.ts';
import type { Foundation } from './foundation.ts';

/** Opens the book of MCP servers; they are connected to when it is told to follow the config. */
export function openMcp(
  { config, closers, version, resolver, store, secrets, log, logFault }: Foundation,
  {
    hosted,
    approvals,
    capabilities,
  }: Pick<Consents, 'approvals'> & {
    readonly hosted: HostedTools;
    readonly capabilities: Pick<CapabilityTable, 'answer'>;
  },
): McpBook {
  const network = createMcpNetwork({ network: config.network, resolve: resolver, secrets });
  closers.push(() => network.close());
  const askForm = createFormByConfirm(async (question, { user, signal }) => {
    const answer = await capabilities.answer({ op: 'confirm', payload: JSON.stringify({ question }) }, user, signal);
    return answer.ok && answer.payload === 'true';
  });
  const parts = {
    version,
    network,
    secrets,
    env: process.env,
    connectMs: config.network.timeoutMs,
    askForm,
    onErrorLine: (server: string, line: string) => log.debug({ server, line: line.slice(0, 2000) }, 'an MCP server writes'),
  };
  const mcp = createMcpBook({
    settings: config.mcp,
    isOn: () => config.safeMode !== 'all',
    start: (name, setting) =>
      startMcpServer({
        name,
        setting,
        pins: store.mcpPins,
        approvals,
        hosted,
        // The library of the protocol is loaded with the first server.
        connect: async (plan, wanted) => (await import('../mcp/transport/connect.ts')).connectToServer(name, plan, parts, wanted),
        onChange: () => {},
        now: Date.now,
        onFault: (error) => logFault(error),
      }),
  });
  closers.push(() => mcp.close());
  return mcp;
}
