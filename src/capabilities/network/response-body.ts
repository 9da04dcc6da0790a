import { Readable } from 'node:stream';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { Redactor } from '../../secrets/secret-types.ts';
import { createDecoders } from './content-coding.ts';

/** One piece of a body. `truncated` says that the rest was left unread at the limit. */
export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly done: boolean;
  readonly truncated: boolean;
}

/** How much to read at once. */
export interface PieceOptions {
  /** A piece has about so many bytes at most. */
  readonly maxBytes: number;
  /** Waits until the piece is full; else until there is anything at all. */
  readonly fill: boolean;
  /** Gives up waiting after so many ms and answers what is there, if only nothing. */
  readonly graceMs?: number;
  /** Told of bytes before they are kept. May throw. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** How a body is encoded, and how much of it is read in all. */
export interface BodyOptions {
  readonly coding: string;
  readonly maxBytes: number;
  /** Sees every byte that leaves. */
  readonly filter?: ReturnType<Redactor['stream']> | undefined;
}

const nothing = new Uint8Array();

/** A body that is read on only when somebody asks for more. One read at a time. */
export type BodyReader = ReturnType<typeof openBody>;

/**
 * Opens a body for reading, decoded. Neither what comes over the wire nor what comes out of the decoder passes `maxBytes`:
 * the rest is left unread and `truncated` says so. An unknown coding is handed on as it is.
 */
export function openBody(body: Readable, { coding, maxBytes, filter }: BodyOptions) {
  const wire = { cut: false };
  const decoders = createDecoders(coding);
  const source = Readable.from(limitBytes(body, maxBytes, wire), { objectMode: false });
  const streams: Readable[] = [body, source, ...decoders];
  let failure: { readonly error: unknown } | undefined;
  let isOver = false;
  let isClosed = false;
  let wake = (): void => {};
  // Whatever is destroyed early complains to somebody: errors that matter reach the last stream.
  for (const stream of streams) stream.on('error', () => {});
  const decoded = decoders.reduce<Readable>((from, to) => from.on('error', (error) => to.destroy(error)).pipe(to), source);
  decoded.on('error', (error) => {
    failure ??= { error };
    wake();
  });
  decoded.on('end', () => {
    isOver = true;
    wake();
  });
  decoded.on('readable', () => wake());
  decoded.on('close', () => wake());

  let left = maxBytes;
  let rest: Uint8Array = nothing;
  let isCut = false;

  /** What is there without waiting, at most `most` bytes. */
  function take(most: number): Uint8Array | undefined {
    if (isOver || isClosed) return undefined;
    const chunk: Uint8Array | null = rest.length > 0 ? rest : decoded.read();
    if (chunk === null) return undefined;
    if (left === 0 && chunk.length > 0) {
      isCut = true;
      isOver = true;
      return undefined;
    }
    const piece = chunk.subarray(0, Math.min(most, left));
    rest = chunk.subarray(piece.length);
    left -= piece.length;
    return filter ? filter.push(piece) : piece;
  }

  /** Closes the socket unless everything was read. */
  function close(): void {
    isClosed = true;
    rest = nothing;
    for (const stream of streams) stream.destroy();
    wake();
  }

  /** Rejects when the signal is aborted or the body fails; the body is closed then. */
  async function read({ maxBytes: most, fill, graceMs, onBytes, signal }: PieceOptions): Promise<BodyPiece> {
    const chunks: Uint8Array[] = [];
    const patience = watchPatience(graceMs, signal, () => wake());
    let size = 0;
    try {
      while (true) {
        for (
          let chunk = size < most ? take(most - size) : undefined;
          chunk;
          chunk = size < most ? take(most - size) : undefined
        ) {
          onBytes(chunk.length);
          chunks.push(chunk);
          size += chunk.length;
        }
        signal.throwIfAborted();
        if (failure) throw failure.error;
        if (isOver) return finish(chunks);
        if (isClosed || decoded.destroyed) throw new HotcellError('cancelled', 'The response was closed while it was read.');
        if (size >= most || (size > 0 && !fill) || patience.isOver()) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return { bytes: joinChunks(chunks), done: false, truncated: false };
    } catch (error) {
      close();
      throw error;
    } finally {
      patience.end();
      wake = () => {};
    }
  }

  function finish(chunks: Uint8Array[]): BodyPiece {
    // What is held back at a cut may be the beginning of a secret.
    if (filter && !isCut && !wire.cut) chunks.push(filter.end());
    close();
    return { bytes: joinChunks(chunks), done: true, truncated: isCut || wire.cut };
  }

  return { read, close };
}

/** Wakes a waiting reader when it has waited enough, or nobody wants its answer any more. */
function watchPatience(graceMs: number | undefined, signal: AbortSignal, wake: () => void) {
  let isOver = false;
  const lose = (): void => {
    isOver = true;
    wake();
  };
  const timer = graceMs === undefined ? undefined : setTimeout(lose, graceMs);
  signal.addEventListener('abort', lose, { once: true });
  return {
    isOver: () => isOver,
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', lose);
    },
  };
}

async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  wire: { cut: boolean },
): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of body) {
    if (chunk.length > left) {
      wire.cut = true;
      if (left > 0) yield chunk.subarray(0, left);
      return;
    }
    left -= chunk.length;
    yield chunk;
  }
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
