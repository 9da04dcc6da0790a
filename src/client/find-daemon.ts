import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { HotcellError } from '../errors/hotcell-error.ts';
import { isSameProgram, readDaemonFile } from './daemon-file.ts';
import { readTokenFile } from './token-file.ts';

/** Where a daemon is said to be. `isExplicit` when somebody named it, so that nothing else will do. */
export interface DaemonAddress {
  readonly url: string;
  readonly token: string;
  readonly isExplicit: boolean;
  /** Whether the daemon runs the very program that asks, where that is known. */
  readonly isSameProgram?: boolean | undefined;
}

/** Finds the daemon by HOTCELL_URL, else by what it left in the data directory; undefined when nothing points to one. */
export function locateDaemon(options: { readonly env: NodeJS.ProcessEnv; readonly dataDir: string }): DaemonAddress | undefined {
  const { env, dataDir } = options;
  const named = env.HOTCELL_URL;
  const isExplicit = named !== undefined && named !== '';
  const file = isExplicit ? undefined : readDaemonFile(dataDir);
  const url = isExplicit ? named : file?.url;
  if (url === undefined) return undefined;
  // The file may have come with a clone: the token of the environment is not for whom it names.
  if (!isExplicit && !isOfThisMachine(url)) throw refuseForeign(dataDir, url);
  const token = env.HOTCELL_TOKEN || readTokenFile(join(dataDir, 'token')) || '';
  return { url: url.replace(/\/+$/, ''), token, isExplicit, ...(file && { isSameProgram: isSameProgram(file) }) };
}

/** A daemon writes down the address on which it listens. */
function isOfThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && /^(?:127\.|0\.0\.0\.0$)/.test(host))) return true;
  const withoutZone = (address: string) => address.split('%', 1)[0];
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => withoutZone(address) === host));
}

function refuseForeign(dataDir: string, url: string): HotcellError {
  const file = join(dataDir, 'daemon.json');
  return new HotcellError(
    'daemon-unreachable',
    `Expected ${file} to name a daemon of this machine, got ${url.slice(0, 200)}: no token is sent there.`,
    { fix: 'Delete the file if no daemon of yours wrote it. A daemon elsewhere is named by HOTCELL_URL.' },
  );
}
