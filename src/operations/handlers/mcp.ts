import type { McpServerView } from '../../mcp-servers/server-types.ts';
import { type McpServerItem, mcpContracts } from '../contracts/mcp.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with MCP servers. */
export function createMcpOperations({ mcp, configState }: Pick<OperationParts, 'mcp' | 'configState'>): Operation[] {
  return [
    implement(mcpContracts.list, () => {
      const items = mcp.list().map(describeServer);
      const { problem } = configState();
      return { items, total: items.length, ...(problem === undefined ? {} : { configProblem: problem }) };
    }),
    implement(mcpContracts.get, ({ name }) => describeServer(mcp.get(name))),
    implement(mcpContracts.restart, ({ name }) => describeServer(mcp.restart(name))),
    implement(mcpContracts.login, async ({ name, redirectUrl }, { signal }) => ({
      ...(await mcp.login(name, { redirectUrl, signal })),
    })),
    implement(mcpContracts.finishLogin, async ({ name, answer }, { signal }) =>
      describeServer(
        await mcp.finishLogin(name, { answer: answer === undefined ? undefined : new URLSearchParams(answer), signal }),
      ),
    ),
    implement(mcpContracts.logout, async ({ name }) => ({ name, wasLoggedIn: await mcp.logout(name) })),
  ];
}

function describeServer({ tools, waitingTools, waitingOfferings, problems, ...view }: McpServerView): McpServerItem {
  return {
    ...view,
    tools: [...tools],
    waitingTools: [...waitingTools],
    waitingOfferings: [...waitingOfferings],
    problems: [...problems],
  };
}
