import type { Duplex } from 'node:stream';
import type { BorderHost } from '../../border/border.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { streamWindowBytes } from '../../guests/process/frames.ts';
import { type GuestHeader, GuestMisbehaved, type SendToGuest } from '../../guests/process/protocol.ts';

/** A message about a connection that was dialled. */
export type StreamMessage = Extract<GuestHeader, { t: 'data' | 'end' | 'ack' | 'close' }>;

/** Is it a message about a connection? */
export function isStreamMessage(header: GuestHeader): header is StreamMessage {
  return header.t === 'data' || header.t === 'end' || header.t === 'ack' || header.t === 'close';
}

/** Why a connection is not open. */
interface Failure {
  readonly code: string;
  readonly message: string;
}

const notThere: Failure = { code: 'not-supported', message: 'Connections are not available here.' };
const broken: Failure = { code: 'network-failed', message: 'The connection broke.' };

/**
 * The connections that one call of a guest process made: each was dialled by the daemon, through the one network check, and
 * its bytes go over the channel. They end with the call.
 */
export class GuestStreams {
  readonly #parts: { readonly dial: BorderHost['dial']; readonly send: SendToGuest };
  readonly #streams = new Map<number, GuestStream>();
  #lastId = 0;
  #isOver = false;

  /** Without `dial` every connection is refused. */
  constructor(parts: { readonly dial: BorderHost['dial']; readonly send: SendToGuest }) {
    this.#parts = parts;
  }

  /** How many are open, or about to be. */
  count(): number {
    return this.#streams.size;
  }

  /** Opens a connection, or says with `refusal` why not. Throws GuestMisbehaved for a number that does not grow. */
  dial(id: number, to: { readonly host: string; readonly port: number }, refusal?: Failure): void {
    if (id <= this.#lastId) throw new GuestMisbehaved('it dialled twice under one number');
    this.#lastId = id;
    const { dial, send } = this.#parts;
    const failure = refusal ?? (dial === undefined ? notThere : undefined);
    if (this.#isOver || failure || dial === undefined) {
      sendClose(send, id, failure);
      return;
    }
    const stream = new GuestStream(id, send, () => this.#streams.delete(id));
    this.#streams.set(id, stream);
    dial(to, stream.signal).then(
      (socket) => stream.open(socket),
      (error: unknown) => stream.close(describe(error)),
    );
  }

  /** Takes a message about a connection; false when there is none: it may have ended meanwhile. Throws GuestMisbehaved. */
  take(header: StreamMessage, body: Uint8Array | undefined): boolean {
    const stream = this.#streams.get(header.id);
    if (!stream) return false;
    if (header.t === 'data') stream.write(body ?? new Uint8Array());
    else if (header.t === 'ack') stream.acknowledge(header.bytes);
    else if (header.t === 'end') stream.end();
    else stream.close();
    return true;
  }

  /** Ends all of them. The guest does the same by itself, at the latest when its next call begins. */
  close(): void {
    this.#isOver = true;
    for (const stream of [...this.#streams.values()]) stream.drop();
  }
}

class GuestStream {
  readonly #id: number;
  readonly #send: SendToGuest;
  readonly #onGone: () => void;
  readonly #dialling = new AbortController();
  #socket: Duplex | undefined;
  /** Bytes that the guest has not read yet, and bytes of the guest that were not passed on yet. */
  #unread = 0;
  #unwritten = 0;
  #isOver = false;

  constructor(id: number, send: SendToGuest, onGone: () => void) {
    this.#id = id;
    this.#send = send;
    this.#onGone = onGone;
  }

  get signal(): AbortSignal {
    return this.#dialling.signal;
  }

  open(socket: Duplex): void {
    socket.on('error', (error) => this.close(error instanceof HotcellError ? describe(error) : broken));
    if (this.#isOver) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    const id = this.#id;
    this.#send({ t: 'opened', id });
    socket.on('data', (chunk: Buffer) => {
      this.#unread += chunk.length;
      if (this.#unread >= streamWindowBytes) socket.pause();
      if (!this.#isOver) this.#send({ t: 'data', id }, '', chunk);
    });
    socket.on('end', () => this.#isOver || this.#send({ t: 'end', id }));
    socket.on('close', () => this.close());
  }

  write(bytes: Uint8Array): void {
    this.#unwritten += bytes.length;
    if (!this.#socket) throw new GuestMisbehaved('it wrote to a connection before it was open');
    if (this.#unwritten > streamWindowBytes) throw new GuestMisbehaved('it wrote to a connection faster than it may');
    this.#socket.write(bytes, (error) => {
      this.#unwritten -= bytes.length;
      if (!error && !this.#isOver && bytes.length > 0) this.#send({ t: 'ack', id: this.#id, bytes: bytes.length });
    });
  }

  acknowledge(bytes: number): void {
    if (bytes > this.#unread) throw new GuestMisbehaved('it read more of a connection than there was');
    this.#unread -= bytes;
    if (this.#unread < streamWindowBytes) this.#socket?.resume();
  }

  end(): void {
    this.#socket?.end();
  }

  close(failure?: Failure): void {
    if (this.drop()) sendClose(this.#send, this.#id, failure);
  }

  /** Ends it without a word; false when it was over. */
  drop(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#onGone();
    this.#dialling.abort();
    this.#socket?.destroy();
    return true;
  }
}

function sendClose(send: SendToGuest, id: number, failure: Failure | undefined): void {
  send({ t: 'close', id }, failure === undefined ? '' : JSON.stringify({ code: failure.code, message: failure.message }));
}

function describe(error: unknown): Failure {
  if (error instanceof HotcellError) return { code: error.code, message: `${error.message} ${error.fix}` };
  return { code: 'network-failed', message: 'The connection could not be opened.' };
}
