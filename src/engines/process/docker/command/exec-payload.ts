import { Buffer } from 'node:buffer';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { maxPayload } from '../init/init-frames.ts';

/** What the kernel is asked to start. */
export interface ExecWords {
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where the first process of a container takes connections to its proxy. */
export const proxyPort = 3128;

const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const proxyNames = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/** What every process of a container sees: what its image sets, where it may write, and its proxy when it has a network. */
export function describeEnvironment(imageEnv: Readonly<Record<string, string>>, hasProxy: boolean): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const proxies = hasProxy ? Object.fromEntries(proxyNames.map((name) => [name, proxy])) : {};
  return { PATH: usualPath, ...imageEnv, HOME: '/tmp', TMPDIR: '/tmp', ...proxies };
}

const maxArguments = 1000;
const maxVariables = 500;

/** Command, arguments and environment as one frame. Throws `arguments-invalid` for what no process can be given. */
export function encodeExec({ folder, command, args, env }: ExecWords): Buffer {
  const words = [command, ...args];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  if (words.length > maxArguments || variables.length > maxVariables) {
    throw refuse(`A command takes at most ${maxArguments} arguments.`);
  }
  const strings = [folder, ...words, ...variables];
  if (strings.some((each) => each.includes('\0'))) throw refuse('An argument of a command may not hold a zero byte.');
  const head = Buffer.alloc(8);
  head.writeUInt32LE(words.length, 0);
  head.writeUInt32LE(variables.length, 4);
  const payload = Buffer.concat([head, Buffer.from(`${strings.join('\0')}\0`)]);
  if (payload.length > maxPayload) {
    throw refuse(`The arguments of a command may have ${maxPayload} bytes in all; these have ${payload.length}.`);
  }
  return payload;
}

function refuse(message: string): HotcellError {
  return new HotcellError('arguments-invalid', message, { fix: 'Pass long input as stdin, or as a file of the workspace.' });
}
