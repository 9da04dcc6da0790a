/** node:net and node:tls of a guest that is a process: sockets are connections of the daemon; TLS is spoken in the guest. */
import net from 'node:net';
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import { type HostAndPort, HostStream } from './host-stream.ts';

interface Options extends Record<string, unknown> {
  readonly host?: string;
  readonly port?: number | string;
  readonly path?: string | null;
  readonly socket?: Duplex;
  readonly timeout?: number;
}
type Arguments = readonly unknown[];
type Done = (error?: Error | null) => void;
/** What is used of a socket that the types keep to themselves. */
type OpenSocket = net.Socket & { _peername?: object; _unrefTimer(): void; _destroy(error: Error | null, done: Done): void };

const prototype = net.Socket.prototype as OpenSocket;
const nativeConnect = prototype.connect as (this: OpenSocket, ...args: Arguments) => OpenSocket;
const nativeDestroy = prototype._destroy;
const nativeTlsConnect = tls.connect as unknown as (options: object, listener?: () => void) => tls.TLSSocket;

/** Replaces what opens connections. What is not replaced here (pipes, servers, datagrams) the runtime refuses itself. */
export function replaceSockets(): void {
  prototype.connect = function (this: OpenSocket, ...args: Arguments) {
    const { options, listener } = readArguments(args);
    // TLS must never become plain: a TLS socket that was made without its stream goes to the runtime, which refuses.
    if (options.path || this instanceof tls.TLSSocket) return nativeConnect.apply(this, [...args]);
    if (listener) this.once('connect', listener);
    relay(this, readPlace(options));
    return this;
  } as OpenSocket['connect'];
  (tls as { connect: unknown }).connect = connectTls;
}

/** `tls.connect` over a connection of the daemon. */
export function connectTls(...args: Arguments): tls.TLSSocket {
  const { options, listener } = readArguments(args);
  if (options.path) return nativeTlsConnect(options, listener);
  const place = readPlace(options);
  const socket = options.socket instanceof net.Socket ? viewOf(options.socket) : (options.socket ?? new HostStream(place));
  const secure = nativeTlsConnect({ ...options, host: place.host, port: place.port, socket }, listener);
  if (typeof options.timeout === 'number') secure.setTimeout(options.timeout);
  return secure;
}

/** `(options)`, `(port, host?, options?)` and `(path)`, each with a listener at the end, or what `net.connect` made of it. */
function readArguments(args: Arguments): { options: Options; listener: (() => void) | undefined } {
  if (Array.isArray(args[0])) return readArguments(args[0].filter((each) => each !== null));
  const last = args.at(-1);
  const listener = typeof last === 'function' ? (last as () => void) : undefined;
  const [first, second] = args;
  const options: Record<string, unknown> = {};
  for (const each of args) if (typeof each === 'object' && each !== null) Object.assign(options, each);
  if (typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first))) options.port = first;
  else if (typeof first === 'string') options.path = first;
  if (typeof second === 'string') options.host = second;
  return { options, listener };
}

function readPlace({ host, port }: Options): HostAndPort {
  return { host: String(host ?? 'localhost'), port: Number(port) };
}

/** Makes a socket of what is on its way to a place. */
function relay(socket: OpenSocket, place: HostAndPort): void {
  const peer = new HostStream(place);
  const own = { configurable: true, writable: true };
  const define = (name: string, value: unknown) => Object.defineProperty(socket, name, { ...own, value });
  define('_read', () => peer.resume());
  define('_write', (chunk: Uint8Array, encoding: BufferEncoding, done: Done) => {
    socket._unrefTimer();
    peer.write(chunk, encoding, done);
  });
  define('_writev', null);
  // A connection that the other side closed is at its end already.
  define('_final', (done: Done) => void (peer.writableEnded || peer.destroyed ? done() : peer.end(done)));
  define('_destroy', (error: Error | null, done: Done) => {
    peer.destroy();
    nativeDestroy.call(socket, error, done);
  });
  for (const name of ['setKeepAlive', 'setNoDelay', 'ref', 'unref']) define(name, () => socket);
  (socket as { connecting: boolean }).connecting = true;
  peer.once('connect', () => {
    (socket as { connecting: boolean }).connecting = false;
    socket._peername = { address: place.host, port: place.port, family: place.host.includes(':') ? 'IPv6' : 'IPv4' };
    socket._unrefTimer();
    socket.emit('connect');
    socket.emit('ready');
    socket.read(0);
  });
  pass(peer, socket, () => socket._unrefTimer());
}

/** A plain stream over a socket, on which TLS can be begun at any time. */
function viewOf(socket: net.Socket): Duplex {
  const view = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  pass(socket, view, () => {});
  return view;
}

/** Hands on what one stream reads, as fast as the other takes it. */
function pass(from: Duplex, to: Duplex, onData: () => void): void {
  from.on('data', (chunk: Uint8Array) => {
    onData();
    if (!to.push(chunk)) from.pause();
  });
  from.once('end', () => to.push(null));
  from.once('error', (error: Error) => to.destroy(error));
  from.once('close', () => {
    if (!from.readableEnded) to.destroy();
  });
}
