import { join } from 'node:path';
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
  const token = env.HOTCELL_TOKEN || readTokenFile(join(dataDir, 'token')) || '';
  return { url: url.replace(/\/+$/, ''), token, isExplicit, ...(file && { isSameProgram: isSameProgram(file) }) };
}
