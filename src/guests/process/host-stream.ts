/** A connection of the daemon as a stream of the guest: its bytes go over the channel, and each side holds the other to a window. */
import { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import { streamWindowBytes } from './frames.ts';
import { mayDial, send } from './host.ts';
import type { HostMessage } from './protocol.ts';

/** Where to. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

type StreamMessage = Extract<HostMessage, { t: 'opened' | 'data' | 'end' | 'ack' | 'close' }>;
type Done = (error?: Error | null) => void;

const streams = new Map<number, HostStream>();
let nextId = 1;

/** Takes a message of the daemon about a connection. */
export function takeStreamMessage(message: StreamMessage, text: string, body: Uint8Array | undefined): void {
  streams.get(message.id)?.hear(message, text, body);
}

/** Ends every connection: the call that made them is over. */
export function endStreams(): void {
  for (const stream of [...streams.values()]) stream.destroy();
}

/** Emits `connect` when it is open; an error carries the host's `code`. */
export class HostStream extends Duplex {
  readonly place: HostAndPort;
  readonly #id = nextId++;
  #isOpen = false;
  #isOver = false;
  #room = streamWindowBytes;
  #unread = 0;
  #writing: { readonly bytes: Uint8Array; readonly done: Done } | undefined;
  #ending: Done | undefined;

  constructor(place: HostAndPort) {
    super({ allowHalfOpen: true, autoDestroy: true });
    this.place = place;
    mayDial();
    streams.set(this.#id, this);
    send({ t: 'dial', id: this.#id, host: place.host, port: place.port });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  hear(message: StreamMessage, text: string, body: Uint8Array | undefined): void {
    if (this.#isOver) return;
    if (message.t === 'data') this.#receive(body);
    else if (message.t === 'end') this.push(null);
    else if (message.t === 'close') this.#closed(text);
    else if (message.t === 'ack') {
      this.#room += message.bytes;
      this.#flush();
    } else {
      this.#isOpen = true;
      this.emit('connect');
      this.#flush();
    }
  }

  override _read(): void {
    if (this.#unread === 0 || this.#isOver) return;
    send({ t: 'ack', id: this.#id, bytes: this.#unread });
    this.#unread = 0;
  }

  override _write(chunk: Uint8Array, _encoding: string, done: Done): void {
    if (this.#isOver) return void done(closed());
    this.#writing = { bytes: chunk, done };
    this.#flush();
  }

  override _writev(chunks: { chunk: Uint8Array }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done);
  }

  /** All that was written must have left before the end is told: closing would cut it off. */
  override _final(done: Done): void {
    if (this.#isOver) return void done();
    this.#ending = done;
    this.#flush();
  }

  override _destroy(error: Error | null, done: Done): void {
    streams.delete(this.#id);
    if (!this.#isOver) send({ t: 'close', id: this.#id });
    this.#isOver = true;
    this.#writing = undefined;
    done(error);
  }

  #receive(body: Uint8Array | undefined): void {
    if (!body) return;
    this.#unread += body.byteLength;
    if (this.push(Buffer.from(body.buffer, body.byteOffset, body.byteLength))) this._read();
  }

  #closed(text: string): void {
    this.#isOver = true;
    streams.delete(this.#id);
    const wasOpen = this.#isOpen;
    if (text !== '') this.destroy(readFailure(text));
    else if (!wasOpen)
      this.destroy(Object.assign(new Error('The connection was closed before it was open.'), { code: 'cancelled' }));
    // What came before is still to be read.
    else if (!this.readableEnded) this.push(null);
    if (wasOpen && text === '') this.#cutWriting();
  }

  #cutWriting(): void {
    const done = this.#writing?.done ?? this.#ending;
    this.#writing = undefined;
    this.#ending = undefined;
    if (done) done(closed());
    else this.end();
  }

  #flush(): void {
    if (!this.#isOpen || this.#isOver) return;
    while (this.#writing && this.#room > 0) {
      const { bytes, done } = this.#writing;
      const part = bytes.subarray(0, this.#room);
      this.#room -= part.byteLength;
      this.#writing = part.byteLength === bytes.byteLength ? undefined : { bytes: bytes.subarray(part.byteLength), done };
      if (part.byteLength > 0) send({ t: 'data', id: this.#id }, '', part);
      if (!this.#writing) done();
    }
    if (!this.#ending || this.#room < streamWindowBytes) return;
    const done = this.#ending;
    this.#ending = undefined;
    send({ t: 'end', id: this.#id });
    done();
  }
}

function closed(): Error {
  return Object.assign(new Error('The connection was closed.'), { code: 'EPIPE' });
}

function readFailure(text: string): Error {
  const { code, message } = JSON.parse(text) as { code: string; message: string };
  return Object.assign(new Error(message), { code });
}
