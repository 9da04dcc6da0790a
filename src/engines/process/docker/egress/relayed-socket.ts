import { Duplex } from 'node:stream';
import { toInit, windowBytes } from '../init/init-frames.ts';
import type { InitLink } from '../init/init-link.ts';

/** A connection that was made inside a container, as a stream of the daemon. Both sides hold each other to a window. */
export class RelayedSocket extends Duplex {
  readonly #link: InitLink;
  readonly #channel: number;
  #unread = 0;
  #written: (() => void) | undefined;
  #isGone = false;

  constructor(link: InitLink, channel: number) {
    super({ allowHalfOpen: true, autoDestroy: true });
    this.#link = link;
    this.#channel = channel;
    this.on('error', () => undefined);
  }

  /** Bytes from the container; more than the window is a container that does not keep to the rules. */
  takeData(payload: Buffer): void {
    this.#unread += payload.length;
    if (this.#unread > windowBytes) this.destroy();
    else if (this.push(Buffer.from(payload))) this.#acknowledge();
  }

  takeEnd(): void {
    this.push(null);
  }

  takeClose(): void {
    this.#isGone = true;
    this.destroy();
  }

  takeDrain(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  override _read(): void {
    this.#acknowledge();
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.#written = callback;
    this.#link.write(this.#channel, chunk);
  }

  override _final(callback: () => void): void {
    this.#link.endWriting(this.#channel);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#isGone) this.#link.send(toInit.close, this.#channel);
    this.#isGone = true;
    this.takeDrain();
    callback(error);
  }

  #acknowledge(): void {
    if (this.#unread === 0 || this.#isGone) return;
    this.#link.sendNumber(toInit.ack, this.#channel, this.#unread);
    this.#unread = 0;
  }
}
