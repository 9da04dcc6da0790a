import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createDockerDemux,
  createFrameReader,
  encodeFrame,
  encodeNumber,
  maxPayload,
} from '../../../../src/engines/process/docker/frames.ts';

/** The same bytes in parts of any length. */
function cutUp(bytes: Buffer, most: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = randomInt(1, most + 1);
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}

/** As Docker packs what a container writes: stream, three zeros, length. */
function pack(stream: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(stream, 0);
  head.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

describe('createFrameReader', () => {
  it('reads frames however the stream is cut', () => {
    const sent = Array.from({ length: 50 }, (_, index) => ({
      type: index,
      channel: index * 7,
      payload: randomBytes(randomInt(0, 3000)),
    }));
    const bytes = Buffer.concat(sent.map(({ type, channel, payload }) => encodeFrame(type, channel, payload)));
    for (const most of [1, 5, 9, 4096, bytes.length]) {
      const got: typeof sent = [];
      const read = createFrameReader(({ type, channel, payload }) => got.push({ type, channel, payload: Buffer.from(payload) }));
      for (const part of cutUp(bytes, most)) read(part);
      expect(got).toEqual(sent);
    }
  });

  it('takes the longest frame, and none that is longer', () => {
    const sizes: number[] = [];
    const read = createFrameReader(({ payload }) => sizes.push(payload.length));
    read(encodeFrame(2, 1, Buffer.alloc(maxPayload)));
    expect(sizes).toEqual([maxPayload]);
    const longer = encodeFrame(2, 1, Buffer.alloc(0));
    longer.writeUInt32LE(maxPayload + 1, 5);
    expect(() => read(longer)).toThrow(RangeError);
  });

  it('ends with a frame or a RangeError on any bytes, and holds no more than one frame back', () => {
    for (let round = 0; round < 300; round++) {
      let frames = 0;
      const read = createFrameReader(() => frames++);
      try {
        for (const part of cutUp(randomBytes(randomInt(0, 2000)), 300)) read(part);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      expect(frames).toBeLessThan(300);
    }
  });
});

describe('encodeNumber', () => {
  it('carries a number as four bytes', () => {
    for (const value of [0, 1, 65_536, 4_294_967_295, -1]) {
      let got: number | undefined;
      createFrameReader(({ payload }) => {
        got = payload.readUInt32LE(0);
      })(encodeNumber(4, 2, value));
      expect(got).toBe(value >>> 0);
    }
  });
});

describe('createDockerDemux', () => {
  it('passes on standard output alone, however the stream is cut', () => {
    const parts = Array.from({ length: 40 }, () => ({ stream: randomInt(0, 4), bytes: randomBytes(randomInt(0, 500)) }));
    const packed = Buffer.concat(parts.map(({ stream, bytes }) => pack(stream, bytes)));
    const wanted = Buffer.concat(parts.filter(({ stream }) => stream === 1).map(({ bytes }) => bytes));
    for (const most of [1, 3, 8, 700, packed.length]) {
      const got: Buffer[] = [];
      const demux = createDockerDemux((bytes) => got.push(Buffer.from(bytes)));
      for (const part of cutUp(packed, most)) demux(part);
      expect(Buffer.concat(got).equals(wanted)).toBe(true);
    }
  });

  it('refuses what is no stream of a container', () => {
    expect(() => createDockerDemux(() => undefined)(Buffer.from('HTTP/1.1 200 OK'))).toThrow(RangeError);
  });

  it('does not gather what a container claims to write', () => {
    // Four gigabytes announced, of which each part is passed on as it comes.
    let passed = 0;
    const demux = createDockerDemux((bytes) => {
      passed += bytes.length;
    });
    const head = Buffer.alloc(8);
    head.writeUInt8(1, 0);
    head.writeUInt32BE(0xffffffff, 4);
    demux(head);
    for (let part = 0; part < 10; part++) demux(Buffer.alloc(1000));
    expect(passed).toBe(10_000);
  });
});
