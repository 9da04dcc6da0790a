import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { CommandRequest } from './container-command.ts';
import { readProxyRequest } from './proxy-request.ts';

const maxHeadBytes = 32 * 1024;
const headTimeoutMs = 30_000;
const challenge = 'Proxy-Authenticate: Basic realm="hotcell"\r\n';

/**
 * Serves one connection of a guest as an HTTP proxy. What may not be reached is answered with 403 and the sentence that says how
 * to allow it. Where others can connect, too, `isAdmitted` sees the credentials that came. Never rejects.
 */
export async function serveProxy(
  client: Duplex,
  dial: NonNullable<CommandRequest['dial']>,
  signal: AbortSignal,
  isAdmitted: (credentials: string) => boolean = () => true,
): Promise<void> {
  try {
    const { head, rest } = await readHead(client);
    const [, credentials = ''] = /^proxy-authorization: *(.*)$/im.exec(head) ?? [];
    if (!isAdmitted(credentials.trim()))
      return refuse(client, '407 Proxy Authentication Required', 'This proxy is private.', challenge);
    const request = readProxyRequest(head);
    if (request.kind === 'bad') return refuse(client, '400 Bad Request', request.reason);
    const server = await dial({ host: request.host, port: request.port }, signal);
    if (client.destroyed) return void server.destroy();
    join(client, server);
    if (request.kind === 'tunnel') client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    else server.write(request.head);
    if (rest.length > 0) server.write(rest);
    client.pipe(server);
    server.pipe(client);
  } catch (error) {
    if (!(error instanceof HotcellError)) return void client.destroy();
    const isRefused = error.code === 'permission-denied' || error.code === 'network-refused';
    refuse(client, isRefused ? '403 Forbidden' : '502 Bad Gateway', `${error.message} ${error.fix}`);
  }
}

/** When one side breaks, so does the other. */
function join(client: Duplex, server: Duplex): void {
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
  server.once('close', () => {
    client.end();
    // What the client still says is read to its end, so that the connection closes.
    client.resume();
  });
  client.once('close', () => server.destroy());
}

function refuse(client: Duplex, status: string, sentence: string, more = ''): void {
  const body = `${sentence}\n`;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  client.resume();
  client.end(`${head}${more}Connection: close\r\n\r\n${body}`);
}

/** Everything up to the first empty line, and what came after it. */
async function readHead(client: Duplex): Promise<{ head: string; rest: Buffer }> {
  let held: Buffer = Buffer.alloc(0);
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  const timer = setTimeout(() => reject(new Error('no request came')), headTimeoutMs);
  const take = (bytes: Buffer): void => {
    held = Buffer.concat([held, bytes]);
    const end = held.indexOf('\r\n\r\n');
    if (end >= 0) {
      client.pause();
      resolve({ head: held.subarray(0, end).toString('latin1'), rest: held.subarray(end + 4) });
    } else if (held.length > maxHeadBytes) {
      reject(new Error('the head of the request is too long'));
    }
  };
  const stop = () => reject(new Error('the connection ended'));
  client.on('data', take);
  client.once('end', stop);
  client.once('close', stop);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    client.off('data', take);
    client.off('end', stop);
    client.off('close', stop);
  }
}
