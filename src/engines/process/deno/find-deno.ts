import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { isExecutable } from '../../../file-system/paths.ts';

/** The packages in which npm brings the binary, by platform and architecture of Node. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@deno/linux-x64-glibc',
  'linux-arm64': '@deno/linux-arm64-glibc',
  'darwin-x64': '@deno/darwin-x64',
  'darwin-arm64': '@deno/darwin-arm64',
};

/** What the binary is looked for with. */
export interface DenoPlaces {
  readonly env: { readonly PATH?: string | undefined; readonly HOTCELL_DENO?: string | undefined };
  readonly platform: string;
  readonly arch: string;
}

/**
 * The path of the Deno binary: what HOTCELL_DENO names, and no other; else that of the npm package `deno` beside Hotcell, else one on
 * PATH. Undefined when there is none.
 */
export function findDeno(
  places: DenoPlaces = { env: process.env, platform: process.platform, arch: process.arch },
): string | undefined {
  const chosen = places.env.HOTCELL_DENO;
  if (chosen) return isExecutable(chosen) && !isScript(chosen) ? chosen : undefined;
  return findPackaged(places) ?? findOnPath(places.env.PATH ?? '');
}

/** The same; throws `engine-missing` with what to install. */
export function requireDeno(places?: DenoPlaces): string {
  const path = findDeno(places);
  if (path !== undefined) return path;
  throw new HotcellError('engine-missing', 'The engine "deno" needs Deno 2, which is not on this machine.', {
    fix: 'Install it beside Hotcell (npm install deno), put deno on the PATH of the daemon, or name the binary in HOTCELL_DENO; then reload the plugin.',
  });
}

function findPackaged({ platform, arch }: DenoPlaces): string | undefined {
  const name = packages[`${platform}-${arch}`];
  if (name === undefined) return undefined;
  try {
    const binary = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'deno');
    return isExecutable(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** Scripts that stand for the binary (npm's own `deno` command) would add a process in between that ends nothing. */
function findOnPath(path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'deno')).find((file) => isExecutable(file) && !isScript(file));
}

function isScript(file: string): boolean {
  try {
    return readFileSync(file).subarray(0, 2).toString() === '#!';
  } catch {
    return true;
  }
}
