import { type CapabilityUser, createDaemonUser } from '../../border/capability-user.ts';
import { type CheckedFetch, createCheckedFetch } from '../../capabilities/network/checked-fetch.ts';
import { createConnections } from '../../capabilities/network/connections.ts';
import type { Destination } from '../../capabilities/network/destination.ts';
import { createNetworkCheck } from '../../capabilities/network/network-check.ts';
import { type Resolve, resolveBySystem } from '../../capabilities/network/resolve.ts';
import type { Config } from '../../config/config-types.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { isAddressLiteral } from '../../permissions/host-name.ts';
import { fillText, listSecrets } from '../../secrets/named-secrets.ts';
import type { SecretRegistry } from '../../secrets/secret-types.ts';
import { nameMcpUnit } from '../mcp-unit.ts';
import type { HttpPlan } from '../server-plan.ts';
import { createMessagePace, type ReceivedBytes } from './stream-bounds.ts';

/** The most of one message of a server. */
export const maxMessageBytes = 16 * 1024 * 1024;

const newline = 0x0a;

/** How servers are reached over the network: through the one check, with what the operator put in. */
export type McpNetwork = ReturnType<typeof createMcpNetwork>;

/** Creates the network of all servers. */
export function createMcpNetwork(parts: {
  readonly network: Config['network'];
  readonly resolve: Resolve | undefined;
  readonly secrets: SecretRegistry;
}) {
  const { network, secrets } = parts;
  const check = createNetworkCheck({ resolve: parts.resolve ?? resolveBySystem });
  const connections = createConnections({ timeoutMs: network.timeoutMs, isPatient: true });

  return {
    /** `canLogin`: the server names where its logins are; these places are reached too, as far as they are public. */
    fetchFor(
      server: string,
      plan: HttpPlan,
      { canLogin, received }: { readonly canLogin: boolean; readonly received: ReceivedBytes },
    ): CheckedFetch {
      const names = listSecrets(Object.values(plan.headers));
      const granted: PermissionSet = { net: [...plan.net], ...(names.length === 0 ? {} : { env: names }) };
      const own = createMcpUser(server, () => granted);
      const pace = createMessagePace();
      return createCheckedFetch({
        check,
        connections,
        secrets,
        userOf: (destination) =>
          canLogin && isPublicName(destination) ? createMcpUser(server, () => addPlace(granted, destination)) : own,
        headersOf: ({ url }) => (url.origin === plan.url.origin ? fillHeaders(server, plan, secrets) : []),
        onChunk(chunk) {
          received.add(chunk.length);
          // An event has two lines at least.
          return pace.note(countLines(chunk) / 2);
        },
        maxBytes: maxMessageBytes,
        maxRedirects: network.maxRedirects,
      });
    },
    close: (): Promise<void> => connections.close(),
  };
}

/** Values never stand in memory of the library: placeholders go in, and become the values on the way out. */
function fillHeaders(server: string, { headers }: HttpPlan, secrets: SecretRegistry): Array<readonly [string, string]> {
  return Object.entries(headers).map(([name, value]) => [
    name,
    fillText(value, (secret) => {
      requireSecret(secrets, server, secret);
      return secrets.placeholderOf(nameMcpUnit(server), secret);
    }),
  ]);
}

/** Throws `mcp-unreachable` when a secret that an entry names is not there. */
export function requireSecret(secrets: Pick<SecretRegistry, 'has' | 'problemOf'>, server: string, name: string): void {
  const problem = secrets.has(name) ? secrets.problemOf(name) : 'is not there';
  if (problem === undefined) return;
  throw new HotcellError('mcp-unreachable', `The secret ${name} of the MCP server "${server}" ${problem}.`, {
    fix: `Set it: hotcell secret set ${name}`,
  });
}

/** A server as a user of capabilities. */
export function createMcpUser(server: string, granted: () => PermissionSet): CapabilityUser {
  return { ...createDaemonUser(nameMcpUnit(server), granted), isAdmin: true };
}

/** An address, or a name of this machine, has to be named by the operator. */
function isPublicName({ host }: Destination): boolean {
  return !isAddressLiteral(host) && host !== 'localhost' && !host.endsWith('.localhost');
}

function addPlace(granted: PermissionSet, { host, port }: Destination): PermissionSet {
  return { ...granted, net: [...(granted.net ?? []), `${host}:${port}`] };
}

function countLines(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
  return lines;
}
