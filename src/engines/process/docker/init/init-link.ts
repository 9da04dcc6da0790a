import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';
import {
  createDockerDemux,
  createInitFrameReader,
  encodeInitFrame,
  encodeNumber,
  type InitFrame,
  maxPayload,
  windowBytes,
} from './init-frames.ts';

/** The line to the first process of one container. */
export interface InitLink {
  /** Sends a frame; dropped when the line is down. */
  send(type: number, channel?: number, payload?: Uint8Array): void;
  sendNumber(type: number, channel: number, value: number): void;
  /** Sends bytes to a channel at the pace at which it takes them. */
  write(channel: number, bytes: Uint8Array): void;
  /** Ends a channel after what was written. */
  endWriting(channel: number): void;
  /** Notes what the other side took. */
  acknowledge(channel: number, bytes: number): void;
  /** Bytes that wait for the channel. */
  waiting(channel: number): number;
  forget(channel: number): void;
  /** Ends the line. */
  close(): void;
  readonly isDown: boolean;
}

interface Outgoing {
  credit: number;
  parts: Buffer[];
  ends: boolean;
}

/**
 * Speaks frames over the attached standard streams of a container. `onFrame` hears every frame, `onDown` once that the line
 * is down: it ended, broke, or carried what is no frame.
 */
export function createInitLink(
  stream: Duplex,
  hears: {
    readonly onFrame: (frame: InitFrame) => void;
    readonly onDown: () => void;
    readonly onDrain: (channel: number) => void;
  },
): InitLink {
  const outgoingByChannel = new Map<number, Outgoing>();
  let isDown = false;
  const goDown = (): void => {
    if (isDown) return;
    isDown = true;
    stream.destroy();
    outgoingByChannel.clear();
    hears.onDown();
  };
  const demux = createDockerDemux(createInitFrameReader((frame) => (isDown ? undefined : hears.onFrame(frame))));
  stream.on('data', (bytes: Buffer) => {
    try {
      demux(bytes);
    } catch {
      goDown();
    }
  });
  for (const event of ['end', 'close', 'error']) stream.once(event, goDown);

  const send: InitLink['send'] = (type, channel, payload) => {
    if (!isDown && !stream.destroyed) stream.write(encodeInitFrame(type, channel, payload));
  };
  const outgoing = (channel: number): Outgoing => {
    const known = outgoingByChannel.get(channel) ?? { credit: windowBytes, parts: [], ends: false };
    outgoingByChannel.set(channel, known);
    return known;
  };
  const flush = (channel: number, state: Outgoing): void => {
    for (let part = state.parts[0]; part !== undefined && state.credit > 0; part = state.parts[0]) {
      const size = Math.min(part.length, state.credit, maxPayload);
      send(2, channel, part.subarray(0, size));
      state.credit -= size;
      if (size === part.length) state.parts.shift();
      else state.parts[0] = part.subarray(size);
    }
    if (state.parts.length > 0) return;
    if (state.ends) {
      state.ends = false;
      send(3, channel);
    }
    hears.onDrain(channel);
  };
  return {
    send,
    sendNumber: (type, channel, value) => {
      if (!isDown && !stream.destroyed) stream.write(encodeNumber(type, channel, value));
    },
    write: (channel, bytes) => {
      const state = outgoing(channel);
      if (bytes.length > 0) state.parts.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      flush(channel, state);
    },
    endWriting: (channel) => {
      const state = outgoing(channel);
      state.ends = true;
      flush(channel, state);
    },
    acknowledge: (channel, bytes) => {
      const state = outgoingByChannel.get(channel);
      if (state === undefined) return;
      state.credit = Math.min(windowBytes, state.credit + bytes);
      flush(channel, state);
    },
    waiting: (channel) => outgoingByChannel.get(channel)?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0,
    forget: (channel) => void outgoingByChannel.delete(channel),
    close: goDown,
    get isDown() {
      return isDown;
    },
  };
}
