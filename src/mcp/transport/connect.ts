import { SdkHttpError, SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { SecretBook } from '../../secrets/secret-types.ts';
import { type Connection, type McpConnectionParts, openConnection } from '../connection.ts';
import { describeConnectFailure } from '../failures.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import { fillText, type HttpPlan, type StdioPlan } from '../server-plan.ts';
import { type McpNetwork, maxMessageBytes, requireSecret } from './mcp-network.ts';
import { createReceivedBytes, type ReceivedBytes } from './received-bytes.ts';
import { StdioTransport } from './stdio-transport.ts';

/** What connections are made with. */
export interface ConnectParts extends Pick<McpConnectionParts, 'version' | 'connectMs' | 'askForm'> {
  readonly network: McpNetwork;
  readonly secrets: SecretBook;
  /** The environment of the daemon. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears what programs write to their standard error. Must not throw. */
  readonly onErrorLine: (server: string, line: string) => void;
}

interface Named<Plan> {
  readonly name: string;
  readonly plan: Plan;
  readonly received: ReceivedBytes;
}

type Wanted = Pick<McpConnectionParts, 'signal' | 'onToolsChanged'>;

/** Of the daemon's environment only what says where things are: nothing that could be a secret. */
const passedNames = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** Connects to a server as its entry says. Rejects with `mcp-unreachable`. */
export async function connectToServer(
  name: string,
  plan: StdioPlan | HttpPlan,
  parts: ConnectParts,
  wanted: Wanted,
): Promise<Connection> {
  try {
    return await connectByPlan(name, plan, parts, wanted);
  } catch (error) {
    throw describeConnectFailure(error, name);
  }
}

async function connectByPlan(name: string, plan: StdioPlan | HttpPlan, parts: ConnectParts, wanted: Wanted): Promise<Connection> {
  const received = createReceivedBytes();
  const open = (transport: Transport, isNewerTried: boolean): Promise<Connection> =>
    openConnection({ ...parts, ...wanted, name, transport, isNewerTried, received });
  if (plan.by === 'http') return connectOverHttp({ name, plan, network: parts.network, received }, open);
  const start = () => createProgram({ name, plan, received }, parts);
  try {
    return await open(start(), true);
  } catch (error) {
    wanted.signal.throwIfAborted();
    // A server of the older era may end when it is asked what it does not know; one that cannot be started fails again.
    return await open(start(), false).catch(() => {
      throw error;
    });
  }
}

async function connectOverHttp(
  { name, plan, network, received }: Named<HttpPlan> & Pick<ConnectParts, 'network'>,
  open: (transport: Transport, isNewerTried: boolean) => Promise<Connection>,
): Promise<Connection> {
  const fetch = network.fetchFor(name, plan, { canLogin: plan.auth !== undefined, received });
  const openOlder = () => open(new SSEClientTransport(plan.url, { fetch }), false);
  if (plan.transport === 'sse') return openOlder();
  try {
    return await open(new StreamableHTTPClientTransport(plan.url, { fetch }), true);
  } catch (error) {
    const isOlder = plan.transport === undefined && error instanceof SdkHttpError && [400, 404, 405].includes(error.status ?? 0);
    if (isOlder) {
      const found = await openOlder().catch(() => undefined);
      if (found !== undefined) return found;
    }
    throw error;
  }
}

function createProgram({ name, plan, received }: Named<StdioPlan>, { secrets, env, onErrorLine }: ConnectParts): StdioTransport {
  const unit = nameMcpUnit(name);
  const passed = passedNames.flatMap((each) => (env[each] === undefined ? [] : [[each, env[each]] as const]));
  const own = Object.entries(plan.env).map(([key, value]) => {
    const filled = fillText(value, (secret) => {
      requireSecret(secrets, name, secret);
      return secrets.findIn(unit, secrets.placeholderOf(unit, secret))[0]?.secret?.value ?? '';
    });
    return [key, filled] as const;
  });
  return new StdioTransport(
    { command: plan.command, args: plan.args, cwd: plan.cwd, env: Object.fromEntries([...passed, ...own]) },
    { maxMessageBytes, received, onErrorLine: (line) => onErrorLine(name, line) },
  );
}
