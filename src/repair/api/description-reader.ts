import { extname, resolve } from 'node:path';
import { createDaemonUser } from '../../border/capability-user.ts';
import { type CheckedFetch, createCheckedFetch } from '../../capabilities/network/checked-fetch.ts';
import { createConnections } from '../../capabilities/network/connections.ts';
import { createNetworkCheck } from '../../capabilities/network/network-check.ts';
import { type Resolve, resolveBySystem } from '../../capabilities/network/resolve.ts';
import type { Config } from '../../config/config-types.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { realPathOf } from '../../file-system/paths.ts';
import { parsePermissions } from '../../permissions/parse.ts';
import { isVisibleInside } from '../../plugins/compile/path-policy.ts';
import { readInput } from '../../plugins/compile/read-input.ts';
import { maxDescriptionBytes } from '../repair.ts';

/** A description as it was read; `source` is how the plugin names it. */
export interface ReadDescription {
  readonly text: string;
  readonly source: string;
}

/** Whom a description may be asked of. */
interface Reach {
  /** Somebody who may ask for any public address; otherwise, and for private ones, only the hosts of `repair.sources` and `net`. */
  readonly isPublic: boolean;
  readonly net?: readonly string[];
}

const unit = 'api-description';
const endings = new Set(['.json', '.yaml', '.yml']);

/** Whether a place is an address of the network. */
export function isAddress(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

/** Reads descriptions of APIs. */
export type DescriptionReader = ReturnType<typeof createDescriptionReader>;

/** Creates the reader. */
export function createDescriptionReader(parts: {
  readonly network: Config['network'];
  readonly resolve: Resolve | undefined;
  /** Hosts that the operator named: read anew each time. */
  readonly hosts: () => readonly string[];
  readonly folders: () => readonly string[];
}) {
  const { network } = parts;
  const check = createNetworkCheck({ resolve: parts.resolve ?? resolveBySystem });
  const connections = createConnections({ timeoutMs: network.timeoutMs });

  function fetchFor({ isPublic, net = [] }: Reach): CheckedFetch {
    const parsed = parsePermissions({ net: [...new Set([...parts.hosts(), ...net])] });
    const granted = parsed.ok ? parsed.permissions : {};
    const user = { ...createDaemonUser(unit, () => granted), reachesPublic: isPublic };
    return createCheckedFetch({
      check,
      connections,
      secrets: undefined,
      userOf: () => user,
      headersOf: () => [],
      maxBytes: maxDescriptionBytes,
      maxRedirects: network.maxRedirects,
    });
  }

  return {
    /** Reads an address through the network check. Throws `network-refused` or `network-failed`. */
    async fetch(address: string, reach: Reach): Promise<ReadDescription> {
      const signal = AbortSignal.timeout(network.timeoutMs);
      const host = URL.parse(address)?.host ?? address.slice(0, 100);
      try {
        const accept = 'application/json, application/yaml, text/*;q=0.9, */*;q=0.1';
        const response = await fetchFor(reach)(address, { headers: { accept }, signal });
        if (!response.ok) {
          await response.body?.cancel();
          throw new HotcellError('network-failed', `${host} answered with the status ${response.status}.`);
        }
        return { text: await response.text(), source: new URL(address).href };
      } catch (error) {
        throw explain(error, host, signal, network.timeoutMs);
      }
    },
    /** Reads a JSON or YAML file by its path in a folder of plugins or a shared one. Throws `api-description-invalid`. */
    open(path: string, folder: string): ReadDescription {
      const file = realPathOf(resolve(folder, path));
      const isAllowed =
        file !== undefined && endings.has(extname(file)) && parts.folders().some((each) => isInFolder(each, file));
      const read = isAllowed ? readInput(file) : 'missing';
      if (typeof read === 'string' || !/^[\w./-]+$/.test(path)) {
        throw new HotcellError(
          'api-description-invalid',
          `The file ${JSON.stringify(path.slice(0, 200))} is not read: ${why(read)}`,
          {
            fix: 'Hand its text in: hotcell plugin new NAME --from FILE',
          },
        );
      }
      return { text: read.text, source: path };
    },
    close: () => connections.close(),
  };
}

function isInFolder(folder: string, file: string): boolean {
  const real = realPathOf(folder);
  return real !== undefined && isVisibleInside(real, file);
}

function why(read: unknown): string {
  if (read === 'too-large') return 'it is too large.';
  return 'descriptions are .json or .yaml files in a folder of plugins, or in one that is shared.';
}

/** What the network check says to plugins is said to those who read a description. */
function explain(error: unknown, host: string, signal: AbortSignal, timeoutMs: number): unknown {
  if (signal.aborted) return new HotcellError('network-failed', `${host} did not answer within ${timeoutMs} ms.`);
  if (!(error instanceof HotcellError))
    return new HotcellError('network-failed', `What ${host} answers cannot be read to its end.`, { cause: error });
  const named = `Name it in the config: repair: { sources: [${JSON.stringify(host)}] }`;
  if (error.code === 'permission-denied')
    return new HotcellError('network-refused', `No description is read from ${host} here.`, { fix: `${named}.` });
  if (error.code !== 'network-refused') return error;
  const message = error.message.replace(`Tool "${unit}" may not reach`, 'No description is read from');
  return new HotcellError('network-refused', message, {
    fix: `${named}, and its address too; or download it, and use the file: --from FILE.`,
  });
}
