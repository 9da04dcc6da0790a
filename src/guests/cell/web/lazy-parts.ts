/** What the base expects of the lazy modules `streams` and `files`. */

/** A ReadableStream as bodies use it. */
export interface ByteStream extends AsyncIterable<unknown> {
  readonly locked: boolean;
  tee(): [ByteStream, ByteStream];
}

/** The rest of a body that the host still reads. */
export interface ByteSource {
  /** The next bytes, with `fill` many at once; undefined at the end. */
  pull(fill: boolean): Promise<Uint8Array | undefined>;
  cancel(): unknown;
}

export interface StreamParts {
  readonly ReadableStream: abstract new (...args: never[]) => ByteStream;
  /** A stream of one chunk; `used` makes one that was read to its end. */
  streamOf(bytes: Uint8Array, used: boolean): ByteStream;
  /** A stream that pulls when it is read, and keeps nothing ready. */
  streamFrom(source: ByteSource): ByteStream;
  isDisturbed(stream: ByteStream): boolean;
}

export interface FileParts {
  createBlob(bytes: Uint8Array, type: string): unknown;
  /** Parses urlencoded and multipart bodies; throws TypeError for other types. */
  parseForm(bytes: Uint8Array, type: string): unknown;
  /** Bytes and type of a Blob or FormData; undefined for anything else. */
  packBody(source: object): { readonly content: Uint8Array; readonly type: string } | undefined;
}
