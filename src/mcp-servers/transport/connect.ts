import {
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { fillText } from '../../secrets/named-secrets.ts';
import type { SecretRegistry } from '../../secrets/secret-types.ts';
import type { McpLoginTable } from '../../store/tables/access/mcp-approvals.ts';
import { createMcpLogins, type McpLogins } from '../auth/mcp-logins.ts';
import { type Connection, endWithCall, type McpConnectionParts, openConnection } from '../connection.ts';
import { describeConnectFailure, describeProgramFailure, findHttpStatus } from '../failures.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import type { HttpPlan, StdioPlan } from '../server-plan.ts';
import type { StartInContainer } from './container-program.ts';
import { type RunningProgram, startLocalProgram } from './local-program.ts';
import { type McpNetwork, maxMessageBytes, requireSecret } from './mcp-network.ts';
import { StdioTransport } from './stdio-transport.ts';
import { createReceivedBytes, type ReceivedBytes } from './stream-bounds.ts';

/** What connections are made with. */
export interface ConnectorParts extends Pick<McpConnectionParts, 'version' | 'connectMs' | 'askForm' | 'askModel'> {
  readonly network: McpNetwork;
  readonly secrets: SecretRegistry;
  readonly learn: (name: string, value: string) => void;
  readonly logins: McpLoginTable;
  readonly startInContainer: StartInContainer;
  /** The environment of the daemon. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears what programs write to their standard error. Must not throw. */
  readonly onErrorLine: (server: string, line: string) => void;
}

type Wanted = Pick<McpConnectionParts, 'signal' | 'onToolsChanged' | 'onResourceUpdated' | 'sampling'>;
type Open = (transport: Transport, isNewerTried: boolean) => Promise<Connection>;

/** Connects to servers, with the logins of the operator. */
export interface Connector {
  /** Rejects with `mcp-unreachable`. */
  connect(name: string, plan: StdioPlan | HttpPlan, wanted: Wanted): Promise<Connection>;
  readonly logins: McpLogins;
}

/** Of the daemon's environment only what says where things are: nothing that could be a secret. */
const passedNames = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** A program that is silent so long is of the older era, which need not answer what it does not know. */
const silentMs = 5000;

/** Creates the connector. */
export function createConnector(parts: ConnectorParts): Connector {
  const { network, secrets } = parts;

  function readSecrets(server: string, text: string): string {
    const unit = nameMcpUnit(server);
    return fillText(text, (name) => {
      requireSecret(secrets, server, name);
      return secrets.findIn(unit, secrets.placeholderOf(unit, name))[0]?.secret?.value ?? '';
    });
  }

  const logins = createMcpLogins({
    table: parts.logins,
    readSecrets,
    learn: parts.learn,
    fetchFor: (server, plan) => network.fetchFor(server, plan, { canLogin: true, received: createReceivedBytes() }),
    async tryConnection(server, plan, provider, signal) {
      const wanted = { signal, sampling: false, onToolsChanged: () => {}, onResourceUpdated: () => {} };
      const connection = await connectOverHttp({ name: server, plan, provider, wanted });
      await connection.close();
    },
  });

  function prepare(name: string, wanted: Wanted, probeMs: number): { readonly received: ReceivedBytes; readonly open: Open } {
    const received = createReceivedBytes();
    return {
      received,
      open: (transport, isNewerTried) =>
        openConnection({ ...parts, ...wanted, name, transport, isNewerTried, received, probeMs }),
    };
  }

  async function connectOverHttp({
    name,
    plan,
    provider,
    wanted,
  }: {
    readonly name: string;
    readonly plan: HttpPlan;
    readonly provider: OAuthClientProvider | undefined;
    readonly wanted: Wanted;
  }): Promise<Connection> {
    const { received, open } = prepare(name, wanted, parts.connectMs);
    const fetch = endWithCall(network.fetchFor(name, plan, { canLogin: plan.auth !== undefined, received }));
    const options = { fetch, ...(provider === undefined ? {} : { authProvider: provider }) };
    const openOlder = () => open(new SSEClientTransport(plan.url, options), false);
    if (plan.transport === 'sse') return openOlder();
    try {
      return await open(new StreamableHTTPClientTransport(plan.url, options), true);
    } catch (error) {
      const isOlder = plan.transport === undefined && [400, 404, 405].includes(findHttpStatus(error) ?? 0);
      const found = isOlder ? await openOlder().catch(() => undefined) : undefined;
      if (found !== undefined) return found;
      throw error;
    }
  }

  async function connectToProgram(name: string, plan: StdioPlan, wanted: Wanted): Promise<Connection> {
    const { received, open } = prepare(name, wanted, silentMs);
    const passed = passedNames.flatMap((each) => (parts.env[each] === undefined ? [] : [[each, parts.env[each]] as const]));
    const own = Object.entries(plan.env).map(([key, value]) => [key, readSecrets(name, value)] as const);
    const { command, args, cwd, image } = plan;
    const onErrorLine = (line: string): void => parts.onErrorLine(name, line);
    const run = (): Promise<RunningProgram> =>
      image === undefined
        ? startLocalProgram({ command, args, cwd, env: Object.fromEntries([...passed, ...own]) })
        : parts.startInContainer(
            name,
            { image, net: plan.net, program: { command, args, cwd, env: Object.fromEntries(own) } },
            wanted.signal,
          );
    const start = async (isNewerTried: boolean): Promise<Connection> => {
      const transport = new StdioTransport({ open: run, maxMessageBytes, received, onErrorLine });
      return open(transport, isNewerTried).catch((error: unknown) => {
        throw describeProgramFailure(error, { command, ...(image === undefined ? { cwd } : {}) }, transport.ending);
      });
    };
    try {
      return await start(true);
    } catch (error) {
      wanted.signal.throwIfAborted();
      // A server of the older era may end when it is asked what it does not know; one that cannot be started fails again.
      return await start(false).catch(() => {
        throw error;
      });
    }
  }

  return {
    logins,
    async connect(name, plan, wanted) {
      try {
        if (plan.by === 'stdio') return await connectToProgram(name, plan, wanted);
        return await connectOverHttp({ name, plan, provider: logins.providerFor(name, plan), wanted });
      } catch (error) {
        throw describeConnectFailure(error, name);
      }
    },
  };
}
