import { timingSafeEqual } from 'node:crypto';
import type { Program } from '../engine.ts';

const FINGERPRINT_BYTES = 32;
const maxCacheBytes = 64 * 1024 * 1024;

/** Images of programs in shared memory, bounded; what is missing is read or built again once, however many calls wait. */
export class ImageCache {
  /** Of the base that all images are differences to. */
  readonly fingerprint: Buffer;
  readonly #rebuild: (program: Program) => Promise<Uint8Array>;
  readonly #images = new Map<string, Uint8Array>();
  readonly #pending = new Map<string, Promise<Uint8Array>>();
  #bytes = 0;

  /** `rebuild` evaluates the program's code and returns the difference to the base. */
  constructor(fingerprint: Buffer, rebuild: (program: Program) => Promise<Uint8Array>) {
    this.fingerprint = fingerprint;
    this.#rebuild = rebuild;
  }

  /** The image when it is at hand. */
  peek(programKey: string): Uint8Array | undefined {
    const image = this.#images.get(programKey);
    if (!image) return undefined;
    this.#images.delete(programKey);
    this.#images.set(programKey, image);
    return image;
  }

  /** The image from memory, from disk if its fingerprint fits, or built again. */
  fetch(program: Program): Promise<Uint8Array> {
    const waiting = this.#pending.get(program.key);
    if (waiting) return waiting;
    const fetching = this.#read(program).finally(() => this.#pending.delete(program.key));
    this.#pending.set(program.key, fetching);
    return fetching;
  }

  /** An image in the form in which it is stored: fingerprint, then the difference. */
  sign(difference: Uint8Array): Uint8Array {
    return Buffer.concat([this.fingerprint, difference]);
  }

  /** Keeps an image that a call needs: what was loaded may never be called. */
  put(programKey: string, difference: Uint8Array): Uint8Array {
    this.delete(programKey);
    const shared = new Uint8Array(new SharedArrayBuffer(difference.length));
    shared.set(difference);
    this.#images.set(programKey, shared);
    this.#bytes += shared.length;
    for (const [key, image] of this.#images) {
      if (this.#bytes <= maxCacheBytes || key === programKey) break;
      this.#images.delete(key);
      this.#bytes -= image.length;
    }
    return shared;
  }

  delete(programKey: string): void {
    const image = this.#images.get(programKey);
    if (!image) return;
    this.#images.delete(programKey);
    this.#bytes -= image.length;
  }

  async #read(program: Program): Promise<Uint8Array> {
    const stored = await program.readImage();
    if (stored && stored.length > FINGERPRINT_BYTES) {
      const found = Buffer.from(stored.buffer, stored.byteOffset, FINGERPRINT_BYTES);
      if (timingSafeEqual(found, this.fingerprint)) {
        return this.put(program.key, stored.subarray(FINGERPRINT_BYTES));
      }
    }
    const rebuilt = await this.#rebuild(program);
    const image = this.put(program.key, rebuilt);
    program.saveImage(this.sign(rebuilt));
    return image;
  }
}
