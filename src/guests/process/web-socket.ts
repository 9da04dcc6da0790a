/** WebSocket of a guest that is a process, over the sockets of the daemon: the runtime's own has no network. */
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { createMessageReader, encodeMessage, opcodes, ProtocolError, type SocketMessage } from './web-socket-frames.ts';

interface Options {
  readonly protocols?: string | string[];
  readonly headers?: HeadersInit;
}
type Data = string | ArrayBufferLike | ArrayBufferView | Blob;
type Handler = ((event: Event) => unknown) | null;

// Loaded with the first WebSocket: they would cost every process a fifth of its start.
const load = createRequire('file:///plugin.js');
const web = () => ({
  ...(load('node:crypto') as typeof import('node:crypto')),
  requestPlain: (load('node:http') as typeof import('node:http')).request,
  requestSecure: (load('node:https') as typeof import('node:https')).request,
});

const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const events = ['open', 'message', 'error', 'close'] as const;
/** How long the peer has to close, too. */
const closingMs = 5000;

/** The WebSocket of the web, with `headers` beside the protocols as in Deno. */
export class WebSocket extends EventTarget {
  static readonly CONNECTING = states.CONNECTING;
  static readonly OPEN = states.OPEN;
  static readonly CLOSING = states.CLOSING;
  static readonly CLOSED = states.CLOSED;
  readonly CONNECTING = states.CONNECTING;
  readonly OPEN = states.OPEN;
  readonly CLOSING = states.CLOSING;
  readonly CLOSED = states.CLOSED;
  readonly url: string;
  readonly extensions = '';
  binaryType: 'blob' | 'arraybuffer' = 'blob';
  protocol = '';
  bufferedAmount = 0;
  declare onopen: Handler;
  declare onmessage: Handler;
  declare onerror: Handler;
  declare onclose: Handler;
  #state: number = states.CONNECTING;
  #socket: Duplex | undefined;
  #end: { code: number; reason: string; wasClean: boolean } = { code: 1006, reason: '', wasClean: false };
  readonly #abandon: () => void;
  // Blobs are read before they are sent, and what comes after one waits for it.
  #sending: Promise<void> | undefined;

  constructor(address: string | URL, options: string | string[] | Options = {}) {
    super();
    const url = new URL(address);
    if (url.protocol === 'http:' || url.protocol === 'https:') url.protocol = url.protocol.replace('http', 'ws');
    if (!/^wss?:$/.test(url.protocol) || url.hash !== '')
      throw new DOMException(`"${url.href}" is no address of a WebSocket.`, 'SyntaxError');
    this.url = url.href;
    const { protocols = [], headers } = typeof options === 'string' || Array.isArray(options) ? { protocols: options } : options;
    const wanted = [protocols].flat();
    if (wanted.some((each) => !token.test(each)) || new Set(wanted).size !== wanted.length) {
      throw new DOMException('The protocols of a WebSocket are different names.', 'SyntaxError');
    }
    this.#abandon = this.#connect(url, wanted, new Headers(headers));
  }

  get readyState(): number {
    return this.#state;
  }

  send(data: Data): void {
    if (this.#state === states.CONNECTING) throw new DOMException('The WebSocket is not open yet.', 'InvalidStateError');
    if (this.#sending || data instanceof Blob) {
      const before = this.#sending ?? Promise.resolve();
      const sending = before.then(async () => this.#write(data instanceof Blob ? await data.arrayBuffer() : data));
      this.#sending = sending.finally(() => {
        if (this.#sending === sending) this.#sending = undefined;
      });
    } else this.#write(data);
  }

  close(code?: number, reason = ''): void {
    if (code !== undefined && code !== 1000 && (code < 3000 || code > 4999)) {
      throw new DOMException('A WebSocket is closed with 1000, or a number from 3000 to 4999.', 'InvalidAccessError');
    }
    if (Buffer.byteLength(reason) > 123) throw new DOMException('The reason has more than 123 bytes.', 'SyntaxError');
    if (this.#state === states.CONNECTING) {
      this.#abandon();
      this.#fail('The WebSocket was closed before it was open.');
    } else if (this.#state === states.OPEN) this.#sayClose(code === undefined ? Buffer.alloc(0) : closePayload(code, reason));
  }

  /** Returns what gives up. */
  #connect(url: URL, protocols: readonly string[], headers: Headers): () => void {
    const { createHash, randomBytes, requestPlain, requestSecure } = web();
    const key = randomBytes(16).toString('base64');
    const request = (url.protocol === 'wss:' ? requestSecure : requestPlain)(url.href.replace(/^ws/, 'http'), {
      agent: false,
      headers: {
        ...Object.fromEntries(headers),
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        ...(protocols.length === 0 ? {} : { 'sec-websocket-protocol': protocols.join(', ') }),
      },
    });
    request.on('error', (error: Error) => this.#fail(error.message, error));
    request.on('response', (response) => {
      response.destroy();
      this.#fail(`The server answered ${response.statusCode} instead of a WebSocket.`);
    });
    request.on('upgrade', (response, socket, head) => {
      const accept = createHash('sha1')
        .update(key + acceptSuffix)
        .digest('base64');
      const protocol = response.headers['sec-websocket-protocol'] ?? '';
      const isRight =
        response.headers['sec-websocket-accept'] === accept && response.headers['sec-websocket-extensions'] === undefined;
      if (!isRight || (protocol !== '' && !protocols.includes(protocol))) {
        socket.destroy();
        this.#fail('The server did not answer as a WebSocket does.');
      } else if (this.#state === states.CONNECTING) this.#open(socket, head, protocol);
      else socket.destroy();
    });
    request.end();
    return () => request.destroy();
  }

  #open(socket: Duplex, head: Uint8Array, protocol: string): void {
    this.#socket = socket;
    this.#state = states.OPEN;
    this.protocol = protocol;
    const read = createMessageReader();
    const take = (chunk: Uint8Array) => {
      try {
        for (const message of read(chunk)) this.#take(message);
      } catch (error) {
        const { code, message } = error instanceof ProtocolError ? error : new ProtocolError('a text is not UTF-8', 1007);
        this.#end = { code, reason: '', wasClean: false };
        this.dispatchEvent(new ErrorEvent('error', { message: `The server broke the protocol: ${message}.` }));
        this.#sayClose(closePayload(code, ''));
        socket.destroy();
      }
    };
    socket.on('data', take);
    socket.on('end', () => socket.end());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#finish());
    this.dispatchEvent(new Event('open'));
    if (head.length > 0) take(head);
  }

  #take({ opcode, payload }: SocketMessage): void {
    if (opcode === opcodes.ping) this.#socket?.write(encodeMessage(opcodes.pong, payload));
    else if (opcode === opcodes.close) this.#hearClose(payload);
    else if (opcode !== opcodes.pong && this.#state === states.OPEN) {
      const data = opcode === opcodes.text ? new TextDecoder('utf-8', { fatal: true }).decode(payload) : this.#asBinary(payload);
      this.dispatchEvent(new MessageEvent('message', { data, origin: new URL(this.url).origin }));
    }
  }

  #asBinary(payload: Buffer): Blob | ArrayBuffer {
    const bytes = new Uint8Array(payload);
    return this.binaryType === 'arraybuffer' ? bytes.buffer : new Blob([bytes]);
  }

  #hearClose(payload: Buffer): void {
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    this.#end = { code, reason: payload.subarray(2).toString(), wasClean: true };
    if (this.#state === states.OPEN) this.#sayClose(payload.subarray(0, 2));
    this.#socket?.end();
  }

  #sayClose(payload: Uint8Array): void {
    this.#state = states.CLOSING;
    const socket = this.#socket;
    socket?.write(encodeMessage(opcodes.close, payload));
    const timer = setTimeout(() => socket?.destroy(), closingMs);
    socket?.once('close', () => clearTimeout(timer));
  }

  #write(data: Exclude<Data, Blob>): void {
    if (this.#state !== states.OPEN) return;
    const isText = typeof data !== 'object';
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : isText
        ? Buffer.from(String(data))
        : new Uint8Array(data);
    this.bufferedAmount += bytes.byteLength;
    this.#socket?.write(encodeMessage(isText ? opcodes.text : opcodes.binary, bytes), () => {
      this.bufferedAmount -= bytes.byteLength;
    });
  }

  #fail(message: string, error?: Error): void {
    if (this.#state !== states.CONNECTING) return;
    this.#state = states.CLOSING;
    queueMicrotask(() => {
      this.dispatchEvent(new ErrorEvent('error', { message, error }));
      this.#finish();
    });
  }

  #finish(): void {
    if (this.#state === states.CLOSED) return;
    this.#state = states.CLOSED;
    this.dispatchEvent(new CloseEvent('close', this.#end));
  }
}

for (const name of events) {
  const handlers = new WeakMap<WebSocket, { value: unknown; listener: (event: Event) => void }>();
  Object.defineProperty(WebSocket.prototype, `on${name}`, {
    configurable: true,
    enumerable: true,
    get(this: WebSocket) {
      return handlers.get(this)?.value ?? null;
    },
    set(this: WebSocket, value: unknown) {
      const before = handlers.get(this);
      if (before) this.removeEventListener(name, before.listener);
      handlers.delete(this);
      if (typeof value !== 'function') return;
      const listener = (event: Event) => value.call(this, event);
      handlers.set(this, { value, listener });
      this.addEventListener(name, listener);
    },
  });
}

function closePayload(code: number, reason: string): Buffer {
  const bytes = Buffer.alloc(2 + Buffer.byteLength(reason));
  bytes.writeUInt16BE(code, 0);
  bytes.write(reason, 2);
  return bytes;
}
