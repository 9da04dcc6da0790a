/** Deno.connect, Deno.connectTls and Deno.startTls over connections of the daemon. */
import type { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type HostAndPort, HostStream } from './host-stream.ts';
import { connectTls } from './sockets.ts';

interface Target extends TlsOptions {
  readonly hostname?: string;
  readonly port: number;
  readonly transport?: string;
  readonly signal?: AbortSignal;
}

interface TlsOptions {
  readonly hostname?: string;
  readonly caCerts?: string[];
  readonly alpnProtocols?: string[];
  readonly cert?: string;
  readonly key?: string;
}

type Open = (options: Target) => Promise<unknown>;
type Runtime = {
  connect: Open;
  connectTls: Open;
  startTls: (connection: unknown, options?: TlsOptions) => Promise<unknown>;
  readonly errors: Record<'NotCapable' | 'ConnectionRefused' | 'BadResource', new (message: string) => Error>;
};

declare const Deno: Runtime;

/** Replaces what opens connections; other transports go to the runtime, which refuses them. */
export function replaceDenoConnections(): void {
  const native = Deno.connect;
  Deno.connect = async (options) =>
    options.transport === undefined || options.transport === 'tcp' ? new Connection(await open(options)) : native(options);
  Deno.connectTls = async (options) => {
    const place = placeOf(options);
    return new Connection(await secure(await open(options), options, place), place);
  };
  Deno.startTls = async (connection, options = {}) => {
    if (!(connection instanceof Connection)) throw new TypeError('Deno.startTls takes what Deno.connect returned.');
    const { stream, place } = connection.release();
    return new Connection(await secure(stream, options, place), place);
  };
}

function placeOf({ hostname, port }: Target): HostAndPort {
  return { host: hostname ?? '127.0.0.1', port };
}

async function open(options: Target): Promise<HostStream> {
  options.signal?.throwIfAborted();
  const stream = new HostStream(placeOf(options));
  const abort = () => stream.destroy(options.signal?.reason);
  options.signal?.addEventListener('abort', abort, { once: true });
  try {
    await settled(stream, 'connect');
  } catch (error) {
    throw asDenoError(error);
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
  return stream;
}

async function secure(stream: Duplex, options: TlsOptions, place: HostAndPort): Promise<TLSSocket> {
  const socket = connectTls({
    socket: stream,
    host: options.hostname ?? place.host,
    ALPNProtocols: options.alpnProtocols,
    cert: options.cert,
    key: options.key,
    ...(options.caCerts ? { ca: options.caCerts } : {}),
  });
  await settled(socket, 'secureConnect');
  return socket;
}

function settled(stream: Duplex, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once(event, () => resolve());
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('The connection was closed before it was open.')));
  });
}

/** Programs of Deno look at the class; `code` is the daemon's. */
function asDenoError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const isDenied = code === 'permission-denied' || code === 'network-refused';
  const known = isDenied ? Deno.errors.NotCapable : code === 'network-failed' ? Deno.errors.ConnectionRefused : undefined;
  return known ? Object.assign(new known(message ?? ''), { code }) : error;
}

/** What Deno calls a Conn. */
class Connection {
  readonly remoteAddr: object;
  readonly localAddr = { transport: 'tcp', hostname: '127.0.0.1', port: 0 };
  readonly #place: HostAndPort;
  #stream: Duplex;
  #rest: Uint8Array | undefined;
  #failure: Error | undefined;
  #readable: ReadableStream<Uint8Array> | undefined;
  #writable: WritableStream<Uint8Array> | undefined;

  constructor(stream: Duplex, place: HostAndPort = (stream as HostStream).place) {
    this.#stream = stream;
    this.#place = place;
    this.remoteAddr = { transport: 'tcp', hostname: place.host, port: place.port };
    stream.on('error', (error) => {
      this.#failure = error;
    });
  }

  /** The stream goes to another owner; this is closed from here on. */
  release(): { stream: Duplex; place: HostAndPort } {
    const stream = this.#stream;
    this.#stream = new Duplex({ read() {} });
    this.#stream.destroy();
    return { stream, place: this.#place };
  }

  async read(into: Uint8Array): Promise<number | null> {
    if (into.byteLength === 0) return 0;
    const bytes = this.#rest ?? (await this.#next());
    if (bytes === undefined) return null;
    const part = bytes.subarray(0, into.byteLength);
    into.set(part);
    this.#rest = part.byteLength < bytes.byteLength ? bytes.subarray(part.byteLength) : undefined;
    return part.byteLength;
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes.slice(), (error) => (error ? reject(error) : resolve(bytes.byteLength)));
    });
  }

  closeWrite(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.once('error', reject);
      this.#stream.end(() => resolve());
    });
  }

  handshake(): Promise<object> {
    const { alpnProtocol } = this.#stream as Partial<TLSSocket>;
    return Promise.resolve({ alpnProtocol: alpnProtocol || null });
  }

  close(): void {
    if (this.#stream.destroyed) throw new Deno.errors.BadResource('The connection is closed.');
    this.#stream.destroy();
  }

  get readable(): ReadableStream<Uint8Array> {
    this.#readable ??= new ReadableStream({
      pull: async (controller) => {
        const bytes = this.#rest ?? (await this.#next());
        this.#rest = undefined;
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: () => void this.#stream.destroy(),
    });
    return this.#readable;
  }

  get writable(): WritableStream<Uint8Array> {
    this.#writable ??= new WritableStream({
      write: async (bytes) => void (await this.write(bytes)),
      close: () => this.closeWrite(),
      abort: () => void this.#stream.destroy(),
    });
    return this.#writable;
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  [Symbol.dispose](): void {
    this.#stream.destroy();
  }

  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk: Buffer | null = this.#stream.read();
      if (chunk !== null) return chunk;
      if (this.#failure) throw this.#failure;
      if (this.#stream.readableEnded || this.#stream.destroyed) return undefined;
      await new Promise<void>((resolve) => {
        const events = ['readable', 'end', 'close', 'error'];
        const wake = () => {
          for (const event of events) this.#stream.off(event, wake);
          resolve();
        };
        for (const event of events) this.#stream.on(event, wake);
      });
    }
  }
}
