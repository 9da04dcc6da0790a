import type { Internals } from '../internals.ts';
import type { ByteStream, StreamParts } from '../lazy-parts.ts';

/** A Blob as the other parts of the module see it. */
export interface BlobLike {
  readonly size: number;
  readonly type: string;
}

/** A File as the other parts of the module see it. */
export interface FileLike extends BlobLike {
  readonly name: string;
}

type BlobClass = new (parts?: Iterable<unknown>, options?: { type?: string }) => BlobLike;
type FileClass = new (parts: Iterable<unknown>, name: string, options?: { type?: string; lastModified?: number }) => FileLike;

/** Blob and File over bytes in the guest's own memory; `readBlob` gives those bytes without a copy. */
export function createBlobClasses(shared: Internals): {
  readonly Blob: BlobClass;
  readonly File: FileClass;
  readonly readBlob: (blob: BlobLike) => Uint8Array;
} {
  let bytesOf: (blob: Blob) => Uint8Array;

  class Blob implements BlobLike {
    readonly #bytes: Uint8Array;
    readonly #type: string;

    static {
      bytesOf = (blob) => blob.#bytes;
    }

    constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
      if (typeof parts !== 'object' || parts === null) throw new TypeError('Blob expects a list of parts');
      this.#bytes = shared.joinBytes(Array.from(parts, toPart));
      const type = String(options.type ?? '');
      this.#type = /[^ -~]/.test(type) ? '' : type.toLowerCase();
    }

    get size(): number {
      return this.#bytes.length;
    }
    get type(): string {
      return this.#type;
    }
    slice(start?: number, end?: number, type = ''): Blob {
      return new Blob([this.#bytes.slice(start, end)], { type });
    }
    async text(): Promise<string> {
      return shared.decodeText(this.#bytes);
    }
    async bytes(): Promise<Uint8Array> {
      return this.#bytes.slice();
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
      return this.#bytes.slice().buffer as ArrayBuffer;
    }
    stream(): ByteStream {
      return (shared.loadModule('streams') as unknown as StreamParts).streamOf(this.#bytes, false);
    }
  }

  class File extends Blob implements FileLike {
    readonly name: string;
    readonly lastModified: number;

    constructor(parts: Iterable<unknown>, name: string, options: { type?: string; lastModified?: number } = {}) {
      super(parts, options);
      this.name = String(name);
      this.lastModified = options.lastModified ?? Date.now();
    }
  }

  function toPart(part: unknown): Uint8Array {
    if (part instanceof Blob) return bytesOf(part);
    return shared.toBytes(part) ?? shared.encodeText(String(part));
  }

  function readBlob(blob: BlobLike): Uint8Array {
    if (!(blob instanceof Blob)) throw new TypeError('A Blob was expected');
    return bytesOf(blob);
  }

  return { Blob, File, readBlob };
}
