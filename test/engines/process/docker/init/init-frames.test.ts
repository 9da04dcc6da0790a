import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createDockerDemux,
  createInitFrameReader,
  encodeInitFrame,
  encodeNumber,
  maxPayload,
} from '../../../../../src/engines/process/docker/init/init-frames.ts';

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

describe('createInitFrameReader', () => {
  it('reads frames however the stream is cut', () => {
    const sent = Array.from({ length: 50 }, (_, index) => ({
      type: index,
      channel: index * 7,
      payload: randomBytes(randomInt(0, 3000)),
    }));
    const bytes = Buffer.concat(sent.map(({ type, channel, payload }) => encodeInitFrame(type, channel, payload)));
    for (const most of [1, 5, 9, 4096, bytes.length]) {
      const got: typeof sent = [];
      const read = createInitFrameReader(({ type, channel, payload }) =>
        got.push({ type, channel, payload: Buffer.from(payload) }),
      );
      for (const part of cutUp(bytes, most)) read(part);
      expect(got).toEqual(sent);
    }
  });

  it('takes the longest frame, and none that is longer', () => {
    const sizes: number[] = [];
    const read = createInitFrameReader(({ payload }) => sizes.push(payload.length));
    read(encodeInitFrame(2, 1, Buffer.alloc(maxPayload)));
    expect(sizes).toEqual([maxPayload]);
    const longer = encodeInitFrame(2, 1, Buffer.alloc(0));
    longer.writeUInt32LE(maxPayload + 1, 5);
    expect(() => read(longer)).toThrow(RangeError);
  });

  it('hands every frame on with its last byte, and ends any other bytes with a RangeError', () => {
    let refused = 0;
    for (let round = 0; round < 300; round++) {
      const frames = Array.from({ length: randomInt(0, 6) }, () => encodeInitFrame(2, 1, randomBytes(randomInt(0, 300))));
      const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
      const tail = round % 2 === 0 ? Buffer.alloc(0) : randomBytes(randomInt(0, 40));
      const isTooLong = tail.length >= 9 && tail.readUInt32LE(5) > maxPayload;
      let fed = 0;
      let got = 0;
      const read = createInitFrameReader(() => got++);
      const feed = () => {
        for (const part of cutUp(Buffer.concat([...frames, tail]), 300)) {
          read(part);
          fed += part.length;
          expect(got).toBe(ends.filter((end) => end <= fed).length);
        }
      };
      if (isTooLong) expect(feed).toThrow(RangeError);
      else feed();
      expect(got).toBe(frames.length);
      if (isTooLong) refused++;
    }
    expect(refused).toBeGreaterThan(0);
  });
});

describe('encodeNumber', () => {
  it('carries a number as four bytes', () => {
    for (const value of [0, 1, 65_536, 4_294_967_295, -1]) {
      let got: number | undefined;
      createInitFrameReader(({ payload }) => {
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
