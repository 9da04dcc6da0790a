import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { sayFailure } from '../operations/calling/call-content.ts';
import { type InvocableOperation, isAllowed } from '../operations/invoke.ts';
import type { Operation } from '../operations/operation.ts';

/** What the server for management is made of. */
export interface ManagementParts {
  readonly version: string;
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly log: Logger;
}

const instructions =
  'Steers a Hotcell daemon: its plugins, tools, executions and events. What people decide (grants, approvals, keys, secrets) is not here.';

/** A server whose tools are the operations of the daemon that its caller may use, but for those that people alone decide. */
export function createManagementServer({ version, operations, log }: ManagementParts, caller: Caller): Server {
  const offered = new Map(
    [...operations.values()]
      .filter(({ operation }) => isOffered(operation, caller))
      .map((invocable) => [toolName(invocable.operation), invocable] as const),
  );
  const server = new Server({ name: 'hotcell-management', version }, { instructions, capabilities: { tools: {} } });
  server.onerror = (error) => log.debug({ err: error, caller: caller.id }, 'an MCP request failed');
  server.setRequestHandler('tools/list', () => ({
    tools: [...offered].map(([name, { operation }]) => describe(name, operation)),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    const invocable = offered.get(params.name);
    if (invocable === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name.slice(0, 64)}".`);
    try {
      const output = await invocable.invoke(params.arguments ?? {}, {
        caller,
        signal: mcpReq.signal,
        cancelSignal: mcpReq.signal,
      });
      return { content: [{ type: 'text', text: JSON.stringify(output ?? null) }] };
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      return { isError: true, content: [{ type: 'text', text: sayFailure({ status: 'error', error }) }] };
    }
  });
  return server;
}

function isOffered({ isForPeople, isForAnonymous, role }: Operation, caller: Caller): boolean {
  if (isForPeople || !isAllowed(role, caller)) return false;
  return caller.isAnonymous !== true || isForAnonymous === true;
}

/** `plugins.reload` as every client takes it. */
function toolName({ name }: Operation): string {
  return name.replaceAll('.', '_');
}

function describe(name: string, { summary, input, http }: Operation): Tool {
  const reads = http.method === 'GET';
  return {
    name,
    description: summary,
    inputSchema: { ...input, type: 'object' },
    annotations: reads ? { readOnlyHint: true } : { readOnlyHint: false, destructiveHint: http.method === 'DELETE' },
  };
}
