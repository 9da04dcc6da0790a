/**
 * The frames between the daemon and a guest that is a process: three lengths (unsigned 32 bit, big endian), then a header
 * (JSON), a text (UTF-8) and raw bytes. Both sides use this file, so it needs nothing of any runtime.
 */

/** One message. `header` says what it is; `text` and `body` carry what may be long. */
export interface Frame {
  readonly header: unknown;
  readonly text: string;
  readonly body?: Uint8Array;
}

/** The most that one frame may hold, in bytes. */
export interface FrameBounds {
  readonly headerBytes: number;
  readonly textBytes: number;
  readonly bodyBytes: number;
}

/** So many bytes of a connection may be under way in one direction, before the other side said that it took some. */
export const streamWindowBytes = 256 * 1024;

const prefixBytes = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A frame as the bytes that go over the channel. `header` is JSON. */
export function encodeFrame(header: object, text = '', body?: Uint8Array): Uint8Array {
  const head = encoder.encode(JSON.stringify(header));
  const content = encoder.encode(text);
  const bodyBytes = body?.byteLength ?? 0;
  const bytes = new Uint8Array(prefixBytes + head.byteLength + content.byteLength + bodyBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, head.byteLength);
  view.setUint32(4, content.byteLength);
  view.setUint32(8, bodyBytes);
  bytes.set(head, prefixBytes);
  bytes.set(content, prefixBytes + head.byteLength);
  if (body) bytes.set(body, prefixBytes + head.byteLength + content.byteLength);
  return bytes;
}

/**
 * A reader of chunks as they come, which answers the frames that are whole now. It keeps no more than one frame within its bounds; what is
 * announced above them is refused before it comes. Throws a RangeError for one above the bounds, a SyntaxError for a header that is no JSON.
 */
export function createFrameReader(bounds: FrameBounds): (chunk: Uint8Array) => Frame[] {
  let chunks: Uint8Array[] = [];
  let available = 0;
  let wanted = prefixBytes;
  return (chunk) => {
    chunks.push(chunk);
    available += chunk.byteLength;
    const frames: Frame[] = [];
    while (available >= wanted) {
      let bytes = join(chunks, available);
      const lengths = readLengths(bytes, bounds);
      wanted = prefixBytes + lengths.header + lengths.text + lengths.body;
      if (available >= wanted) {
        frames.push(readFrame(bytes, lengths));
        bytes = bytes.subarray(wanted);
        available = bytes.byteLength;
        wanted = prefixBytes;
      }
      chunks = [bytes];
    }
    return frames;
  };
}

interface Lengths {
  readonly header: number;
  readonly text: number;
  readonly body: number;
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first) return first;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function readLengths(bytes: Uint8Array, bounds: FrameBounds): Lengths {
  const view = new DataView(bytes.buffer, bytes.byteOffset, prefixBytes);
  const lengths = { header: view.getUint32(0), text: view.getUint32(4), body: view.getUint32(8) };
  const isTooLarge = lengths.header > bounds.headerBytes || lengths.text > bounds.textBytes || lengths.body > bounds.bodyBytes;
  if (isTooLarge) throw new RangeError('A frame is larger than the channel takes.');
  return lengths;
}

function readFrame(bytes: Uint8Array, { header, text, body }: Lengths): Frame {
  const textAt = prefixBytes + header;
  const bodyAt = textAt + text;
  const parsed: unknown = JSON.parse(decoder.decode(bytes.subarray(prefixBytes, textAt)));
  const content = text === 0 ? '' : decoder.decode(bytes.subarray(textAt, bodyAt));
  // Copied: the chunk that it lies in may be the runtime's own buffer.
  if (body === 0) return { header: parsed, text: content };
  return { header: parsed, text: content, body: bytes.slice(bodyAt, bodyAt + body) };
}
