import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { HotcellError } from '../../../../errors/hotcell-error.ts';

const answerTimeoutMs = 20_000;

/**
 * The standard streams of a container, as one stream of bytes. The library sends its options as a body too, which Podman hands
 * to the container as its input; and without the empty `detachKeys` Podman takes two of the bytes for a wish to leave.
 * Rejects with an error that may carry `statusCode`, as the library's do.
 */
export function attachStreams(docker: Docker, containerId: string): Promise<Duplex> {
  const modem: object = docker.modem;
  const socketPath = 'socketPath' in modem ? modem.socketPath : undefined;
  if (typeof socketPath !== 'string') throw new TypeError('the engine is not reached over a local socket');
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const asking = request({
    socketPath,
    method: 'POST',
    path: `/containers/${containerId}/attach?stream=1&stdin=1&stdout=1&stderr=1&detachKeys=`,
    headers: { Connection: 'Upgrade', Upgrade: 'tcp' },
    timeout: answerTimeoutMs,
  });
  asking.once('upgrade', (_answer, socket, head) => {
    socket.setTimeout(0);
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  asking.once('response', (answer) => {
    answer.resume();
    reject(Object.assign(new Error('the streams were not opened'), { statusCode: answer.statusCode }));
  });
  asking.once('timeout', () => asking.destroy(new HotcellError('engine-failed', 'Docker did not answer in time.')));
  asking.once('error', reject);
  asking.end();
  return promise;
}
