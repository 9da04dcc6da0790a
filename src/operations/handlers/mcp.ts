import { mcpContracts } from '../contracts/mcp.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with MCP servers. */
export function createMcpOperations({ mcp, configState }: Pick<OperationParts, 'mcp' | 'configState'>): Operation[] {
  return [
    implement(mcpContracts.list, () => {
      const { problem } = configState();
      return { ...pageOfAll(mcp.list()), ...(problem === undefined ? {} : { configProblem: problem }) };
    }),
    implement(mcpContracts.get, ({ name }) => mcp.get(name)),
    implement(mcpContracts.restart, ({ name }) => mcp.restart(name)),
    implement(mcpContracts.login, ({ name, redirectUrl }, { signal }) => mcp.login(name, { redirectUrl, signal })),
    implement(mcpContracts.finishLogin, ({ name, answer }, { signal }) =>
      mcp.finishLogin(name, { answer: answer === undefined ? undefined : new URLSearchParams(answer), signal }),
    ),
    implement(mcpContracts.logout, async ({ name }) => ({ name, wasLoggedIn: await mcp.logout(name) })),
  ];
}
