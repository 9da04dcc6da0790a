import { constants } from 'node:os';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { guestModule } from '../../reports.ts';
import { describeEnvironment, type ExecWords, proxyPort } from '../command/exec-payload.ts';

/** Where the first process of a container takes connections: first the channel of the guest, then those to the proxy. */
export const guestPort = proxyPort;

const imageFix = 'Name an image with Node 22 or later in docker.pluginImage of the config.';

/** Node, with the runner on its standard input. `heapMb` bounds the JavaScript heap. */
export function describeGuest(imageEnv: Readonly<Record<string, string>>, heapMb: number): ExecWords {
  // NODE_USE_ENV_PROXY: newer versions of Node then use the proxy in their own clients too.
  const env = { ...describeEnvironment(imageEnv, true), NODE_USE_ENV_PROXY: '1', NO_COLOR: '1' };
  const args = [`--max-old-space-size=${heapMb}`, '--input-type=module', '-', String(guestPort), guestModule];
  return { folder: '/workspace', command: 'node', args, env };
}

/** Why Node could not be started, by the error number of the system. */
export function explainStart(errno: number, image: string): HotcellError {
  const isMissing = errno === constants.errno.ENOENT || errno === constants.errno.EACCES;
  const why = isMissing ? 'has no program "node"' : `could not start "node" (error ${errno})`;
  return new HotcellError('engine-failed', `The image ${image} ${why}.`, { fix: imageFix });
}

/** Why Node ended before any plugin ran, with what it said. */
export function explainEarlyEnd(words: string, image: string): HotcellError {
  const said = words.trim().split('\n').slice(0, 3).join(' ').slice(0, 500);
  const message = `Node of the image ${image} ended before the plugin could be loaded${said === '' ? '.' : `: ${said}`}`;
  return new HotcellError('engine-failed', message, { fix: imageFix });
}
