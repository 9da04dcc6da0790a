import type { CapabilityTable } from '../border/capability.ts';
import type { TellResourceChange } from '../capabilities/resources.ts';
import type { CommandRunner } from '../engines/process/docker/command/command-runner.ts';
import type { ResourceWatches } from '../events/resource-watches.ts';
import { createMcpBook, type McpBook } from '../mcp-servers/mcp-book.ts';
import { nameMcpUnit } from '../mcp-servers/mcp-unit.ts';
import { createFormAsker } from '../mcp-servers/questions/answer-form.ts';
import type { AskModelForCall } from '../mcp-servers/questions/answer-sampling.ts';
import { startMcpServer } from '../mcp-servers/server.ts';
import type { Connector } from '../mcp-servers/transport/connect.ts';
import { createContainerStarter } from '../mcp-servers/transport/container-program.ts';
import { createMcpNetwork } from '../mcp-servers/transport/mcp-network.ts';
import type { HostedTools } from '../tools/hosted/hosted-tools.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Consents } from './consents.ts';
import type { Foundation } from './foundation.ts';

/** Opens the book of MCP servers; they are connected to when it is told to follow the config. */
export function openMcp(
  { config, closers, version, resolver, store, events, secrets, log, logFault }: Foundation,
  {
    hosted,
    approvals,
    capabilities,
    commands,
    registry,
    watches,
    tellResourceChange,
    askModel,
  }: Pick<Consents, 'approvals'> & {
    readonly registry: Pick<ToolRegistry, 'offerings'>;
    readonly watches: ResourceWatches;
    readonly tellResourceChange: TellResourceChange;
    readonly askModel: AskModelForCall;
    readonly hosted: HostedTools;
    readonly capabilities: Pick<CapabilityTable, 'answer' | 'dial'>;
    readonly commands: Pick<CommandRunner, 'hold'>;
  },
): McpBook {
  const network = createMcpNetwork({ network: config.network, resolve: resolver, secrets });
  closers.push(() => network.close());
  const askForm = createFormAsker(capabilities);
  const load = async (): Promise<Connector> =>
    (await import('../mcp-servers/transport/connect.ts')).createConnector({
      version,
      network,
      secrets,
      learn: secrets.learn,
      logins: store.mcpLogins,
      startInContainer: createContainerStarter({ containers: commands, capabilities }),
      env: process.env,
      connectMs: config.network.timeoutMs,
      askForm,
      askModel,
      onErrorLine: (server, line) => log.debug({ server, line: line.slice(0, 2000) }, 'an MCP server writes'),
    });
  // The library of the protocol is loaded with the first server.
  let loaded: Promise<Connector> | undefined;
  const connector = (): Promise<Connector> => {
    loaded ??= load();
    return loaded;
  };
  const mcp = createMcpBook({
    settings: config.mcp,
    isOn: () => config.safeMode !== 'all',
    logins: async () => (await connector()).logins,
    start: (name, setting) =>
      startMcpServer({
        name,
        setting,
        pins: store.mcpPins,
        approvals,
        hosted,
        connect: async (plan, wanted) => (await connector()).connect(name, plan, wanted),
        onChange: (view, previousState) =>
          events.publish('mcp-change', {
            subject: name,
            data: {
              state: view.state,
              previousState,
              tools: view.tools.length,
              waitingTools: view.waitingTools.length,
              ...(view.lastError === undefined ? {} : { error: view.lastError }),
            },
          }),
        resources: {
          watches,
          serves: (uri) => registry.offerings.findResource(uri, () => true)?.entry.served.unit.path === nameMcpUnit(name),
          tell: (uri) => void tellResourceChange(nameMcpUnit(name), uri),
        },
        now: Date.now,
        onFault: (error) => logFault(error),
      }),
  });
  closers.push(() => mcp.close());
  return mcp;
}
