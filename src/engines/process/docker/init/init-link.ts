import { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import {
  createDockerDemux,
  createInitFrameReader,
  encodeInitFrame,
  encodeNumber,
  fromInit,
  type InitFrame,
  leastPayload,
  toInit,
  windowBytes,
} from './init-frames.ts';

/** Who hears what the first process of a container says, but for the channels that are open as streams. */
export interface FrameListener {
  /** What it throws takes the line down: only hostile bytes may be a reason. */
  onFrame?(frame: InitFrame): void;
  /** The line is down: nothing more comes. */
  onDown?(): void;
}

/** The line to the first process of one container: frames over the attached standard streams. It goes down when it carries what is no frame. */
export class InitLink {
  readonly #stream: Duplex;
  readonly #channels = new Map<number, ChannelStream>();
  #listener: FrameListener;
  #isDown = false;
  #isGarbled = false;

  constructor(stream: Duplex, listener: FrameListener) {
    this.#stream = stream;
    this.#listener = listener;
    const demux = createDockerDemux(createInitFrameReader((frame) => this.#hear(frame)));
    stream.on('data', (bytes: Buffer) => {
      try {
        demux(bytes);
      } catch {
        this.#isGarbled = true;
        this.close();
      }
    });
    for (const event of ['end', 'close', 'error']) stream.once(event, () => this.close());
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** It carried what the first process never says. */
  get isGarbled(): boolean {
    return this.#isGarbled;
  }

  /** Replaces who listens; nobody, when none is given. */
  listen(listener: FrameListener = {}): void {
    this.#listener = listener;
    if (this.#isDown) listener.onDown?.();
  }

  /** Sends a frame; dropped when the line is down. */
  send(type: number, channel = 0, payload?: Uint8Array): void {
    if (!this.#isDown && !this.#stream.destroyed) this.#stream.write(encodeInitFrame(type, channel, payload));
  }

  sendNumber(type: number, channel: number, value: number): void {
    if (!this.#isDown && !this.#stream.destroyed) this.#stream.write(encodeNumber(type, channel, value));
  }

  /** A channel as a stream, whose frames nobody else hears. It is destroyed with the line. Throws for one that is open. */
  open(channel: number): Duplex {
    if (this.#channels.has(channel)) throw new RangeError(`channel ${channel} is open`);
    const stream = new ChannelStream(this, channel);
    this.#channels.set(channel, stream);
    return stream.once('close', () => this.#channels.delete(channel));
  }

  /** Ends the line. */
  close(): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#stream.destroy();
    for (const channel of this.#channels.values()) channel.destroy();
    this.#listener.onDown?.();
  }

  #hear(frame: InitFrame): void {
    if (this.#isDown) return;
    if (frame.payload.length < (leastPayload.get(frame.type) ?? 0)) throw new RangeError('a frame that is too short');
    if (this.#channels.get(frame.channel)?.hear(frame) !== true) this.#listener.onFrame?.(frame);
  }
}

/** What one channel carries. Both sides hold each other to a window. */
class ChannelStream extends Duplex {
  readonly #link: InitLink;
  readonly #channel: number;
  #credit = windowBytes;
  #unread = 0;
  #writing: { readonly rest: Buffer; readonly done: () => void } | undefined;
  #isGone = false;

  constructor(link: InitLink, channel: number) {
    super({ allowHalfOpen: true, autoDestroy: true });
    this.#link = link;
    this.#channel = channel;
    this.on('error', () => undefined);
  }

  /** False for a frame that is not of the stream. */
  hear({ type, payload }: InitFrame): boolean {
    if (type === fromInit.data) this.#takeData(payload);
    else if (type === fromInit.end) this.push(null);
    else if (type === fromInit.ack) {
      this.#credit = Math.min(windowBytes, this.#credit + payload.readUInt32LE(0));
      this.#flush();
    } else if (type === fromInit.close) {
      this.#isGone = true;
      this.destroy();
    } else return false;
    return true;
  }

  override _read(): void {
    this.#acknowledge();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#writing = { rest: chunk, done };
    this.#flush();
  }

  override _final(done: () => void): void {
    this.#link.send(toInit.end, this.#channel);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isGone) this.#link.send(toInit.close, this.#channel);
    this.#isGone = true;
    this.#writing?.done();
    this.#writing = undefined;
    done(error);
  }

  /** More than the window is a container that does not keep to the rules. */
  #takeData(payload: Buffer): void {
    this.#unread += payload.length;
    if (this.#unread > windowBytes) this.destroy();
    // A copy: the payload is a view on a larger buffer.
    else if (this.push(Buffer.from(payload))) this.#acknowledge();
  }

  #acknowledge(): void {
    if (this.#unread === 0 || this.#isGone) return;
    this.#link.sendNumber(toInit.ack, this.#channel, this.#unread);
    this.#unread = 0;
  }

  /** A frame holds as much as the window, so that the credit alone bounds a part. */
  #flush(): void {
    while (this.#writing && this.#credit > 0 && !this.#isGone) {
      const { rest, done } = this.#writing;
      const part = rest.subarray(0, this.#credit);
      this.#credit -= part.length;
      this.#writing = part.length < rest.length ? { rest: rest.subarray(part.length), done } : undefined;
      this.#link.send(toInit.data, this.#channel, part);
      if (!this.#writing) done();
    }
  }
}
