import { isAbsolute, relative } from 'node:path';
import { describeGrantCommand } from '../../../permissions/permission-words.ts';

/** Whose refusals are explained: the plugin by its name, and the folder in which its process runs. */
export interface RefusedProcess {
  readonly plugin: string;
  readonly cwd: string;
}

const requiredAccess = /Requires (\w+) access(?: to (?:"([^"]*)"|<[A-Z_]+>))?, run again with the --allow-[\w-]+ flag/g;
// Without the variable PATH, which is not there either, it looks no further.
const unfoundProgram = /Failed to spawn '([^']*)': no path to search[^\n]*/g;
const unscopedAccess = /(\S+) requires unscoped --allow-[\w-]+[^;]*permissions?(?:;.*)?/g;

/**
 * Deno's refusals name its own flags and folders of this machine, and advise what nobody can do here. Says instead which grant
 * helps, or what does the same.
 */
export function explainDenoRefusals(text: string, process: RefusedProcess): string {
  return text
    .replace(requiredAccess, (_all, kind: string, what: string | undefined) => explainAccess(kind, what, process))
    .replace(unfoundProgram, (_all, command: string) => explainAccess('run', command, process))
    .replace(unscopedAccess, (_all, what: string) => `${what} is not there: a link could lead out of the workspace.`);
}

function explainAccess(kind: string, what: string | undefined, { plugin, cwd }: RefusedProcess): string {
  const grant = (set: Parameters<typeof describeGrantCommand>[1]) => `Allow it with: ${describeGrantCommand(plugin, set)}`;
  const named = what === undefined ? '' : ` "${what}"`;
  switch (kind) {
    case 'read':
    case 'write': {
      const path = what === undefined ? undefined : pathInside(cwd, what);
      if (path === undefined)
        return `The plugin may not ${kind} files outside the workspace of its caller; a mount of the config could bring them in.`;
      return `The plugin may not ${kind} "${path}" of the workspace. ${grant({ [kind]: [path] })}`;
    }
    case 'env':
      if (what === undefined)
        return 'The environment is not there as a whole: ask context.env.get for one name, which is a permission (env).';
      return `The variable${named} is not in the environment: ask context.env.get(${JSON.stringify(what)}). ${grant({ env: [what] })}`;
    case 'net':
      return `The plugin may not connect to${named || ' the network'}. ${what === undefined ? 'Hosts are a permission (net).' : grant({ net: [hostOf(what)] })}`;
    case 'run':
      return `The plugin may not start${named || ' programs'} in the engine "deno": ask context.run, or choose engine: 'docker'. ${what === undefined ? 'Commands are a permission (run).' : grant({ run: [what] })}`;
    case 'ffi':
      return `Native libraries${named && ` such as${named}`} are not opened in the engine "deno". What has one in its image is engine: 'docker'.`;
    case 'import':
      return `Nothing is imported${named && ` from${named}`} while the plugin runs. Import it at the top of the file, from a package in node_modules.`;
    default:
      return `What the system says of itself${named && ` (${named.trim()})`} is not told to plugins, and no grant changes that.`;
  }
}

/** Port 443 is what a grant of a bare host means. */
function hostOf(address: string): string {
  return address.replace(/:443$/, '');
}

/** The path as a grant names it; undefined for what lies elsewhere. */
function pathInside(cwd: string, path: string): string | undefined {
  const inside = isAbsolute(path) ? relative(cwd, path) : path;
  if (inside.startsWith('..') || isAbsolute(inside)) return undefined;
  return inside.replace(/^\.\//, '') || '.';
}
