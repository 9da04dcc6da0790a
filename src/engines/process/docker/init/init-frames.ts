import { Buffer } from 'node:buffer';

/** What the daemon says to the first process of a container; the same numbers as in hotcell-init.c. */
export const toInit = {
  exec: 1,
  data: 2,
  end: 3,
  ack: 4,
  close: 5,
  kill: 6,
  folder: 7,
  fileOpen: 8,
  fileData: 9,
  filesDone: 10,
  collect: 11,
  listen: 12,
} as const;

/** What the first process of a container says beside `data`, `end`, `ack` and `close`. */
export const fromInit = {
  data: 2,
  end: 3,
  ack: 4,
  close: 5,
  hello: 64,
  exit: 65,
  accept: 66,
  failed: 67,
  entry: 68,
  entryData: 69,
  collected: 70,
  filesOk: 71,
} as const;

/** The channels of the standard streams of the program that runs. */
export const standardChannels = { stdin: 1, stdout: 2, stderr: 3 } as const;

/** Bytes that one frame carries at most. */
export const maxPayload = 65_536;
/** Bytes that may be under way on one channel before they are acknowledged. */
export const windowBytes = 65_536;
/** The bytes that a frame of a type has at least: its numbers can be read. */
export const leastPayload: ReadonlyMap<number, number> = new Map([
  [fromInit.ack, 4],
  [fromInit.exit, 8],
  [fromInit.failed, 4],
  [fromInit.collected, 4],
  [fromInit.filesOk, 4],
]);

const headerBytes = 9;

/** One frame: a type, a channel (0 for none) and bytes. */
export interface InitFrame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

/** How a program ended; `oomKills` counts the processes that the kernel ended for want of memory. */
export function readExit(payload: Buffer): { readonly exitCode: number; readonly signal: number; readonly oomKills: number } {
  const status = payload.readUInt32LE(0);
  return { exitCode: (status >> 8) & 0xff, signal: status & 0x7f, oomKills: payload.readUInt32LE(4) };
}

/** A frame as bytes. */
export function encodeInitFrame(type: number, channel = 0, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + payload.length);
  bytes.writeUInt8(type, 0);
  bytes.writeUInt32LE(channel, 1);
  bytes.writeUInt32LE(payload.length, 5);
  bytes.set(payload, headerBytes);
  return bytes;
}

/** A frame that carries one number. */
export function encodeNumber(type: number, channel: number, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32LE(value >>> 0, 0);
  return encodeInitFrame(type, channel, payload);
}

/** Cuts a stream into frames. Throws a RangeError when it is none: a frame that is longer than any may be. */
export function createInitFrameReader(onFrame: (frame: InitFrame) => void): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    let at = 0;
    while (held.length - at >= headerBytes) {
      const size = held.readUInt32LE(at + 5);
      if (size > maxPayload) throw new RangeError(`a frame of ${size} bytes`);
      if (held.length - at < headerBytes + size) break;
      const start = at + headerBytes;
      onFrame({ type: held.readUInt8(at), channel: held.readUInt32LE(at + 1), payload: held.subarray(start, start + size) });
      at = start + size;
    }
    held = held.subarray(at);
  };
}

/**
 * Takes the frames that Docker puts around what a container writes (8 bytes: stream, length) off again; only standard output
 * is passed on. Throws a RangeError on a stream that is none.
 */
export function createDockerDemux(onOutput: (bytes: Buffer) => void): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let left = 0;
  let isOutput = false;
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    while (held.length > 0) {
      if (left === 0) {
        if (held.length < 8) return;
        const stream = held.readUInt8(0);
        if (stream > 3) throw new RangeError(`stream ${stream} of a container`);
        isOutput = stream === 1;
        left = held.readUInt32BE(4);
        held = held.subarray(8);
        continue;
      }
      const part = held.subarray(0, left);
      left -= part.length;
      held = held.subarray(part.length);
      if (isOutput) onOutput(part);
    }
  };
}
