import { describe, expect, it } from 'vitest';
import { createMessageReader, encodeMessage, opcodes, ProtocolError } from '../../../../src/guests/process/web-socket-frames.ts';

/** A frame as a server sends it: not masked. */
function frame(opcode: number, payload: Uint8Array | string, isFinal = true): Buffer {
  const bytes = Buffer.from(payload);
  const head =
    bytes.length < 126
      ? Buffer.from([0, bytes.length])
      : Buffer.from(
          bytes.length < 65_536
            ? [0, 126, bytes.length >> 8, bytes.length & 0xff]
            : [0, 127, 0, 0, 0, 0, 0, bytes.length >> 16, (bytes.length >> 8) & 0xff, bytes.length & 0xff],
        );
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  return Buffer.concat([head, bytes]);
}

describe('createMessageReader', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('reads a message of %i bytes, however it is cut', (length) => {
    const payload = Buffer.alloc(length, 'x');
    const bytes = frame(opcodes.binary, payload);
    for (const size of [1024, 70_000, bytes.length]) {
      const read = createMessageReader();
      const messages = [];
      for (let at = 0; at < bytes.length; at += size) messages.push(...read(bytes.subarray(at, at + size)));
      expect(messages).toEqual([{ opcode: opcodes.binary, payload }]);
    }
  });

  it('puts a message together, with control frames in between', () => {
    const read = createMessageReader();
    const bytes = [
      frame(opcodes.text, 'a', false),
      frame(opcodes.ping, 'p'),
      frame(opcodes.continuation, 'b', false),
      frame(opcodes.continuation, 'c'),
    ];
    expect(read(Buffer.concat(bytes)).map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [opcodes.ping, 'p'],
      [opcodes.text, 'abc'],
    ]);
  });

  it.each([
    ['a continuation of nothing', [frame(opcodes.continuation, 'a')]],
    ['a new message in the middle of one', [frame(opcodes.text, 'a', false), frame(opcodes.text, 'b')]],
    ['a control frame in parts', [frame(opcodes.ping, 'a', false)]],
    ['a control frame that is too large', [frame(opcodes.ping, 'x'.repeat(126))]],
    ['an opcode that nobody knows', [frame(3, 'a')]],
    ['reserved bits', [Buffer.from([0xc1, 0])]],
    ['a mask', [Buffer.from([0x81, 0x80, 0, 0, 0, 0])]],
    ['an announced length without end', [Buffer.from([0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]],
  ])('refuses %s', (_what, frames) => {
    expect(() => createMessageReader()(Buffer.concat(frames))).toThrow(ProtocolError);
  });
});

describe('encodeMessage', () => {
  it.each([0, 125, 126, 65_535, 65_536])('masks %i bytes', (length) => {
    const payload = Buffer.alloc(length, 'y');
    const bytes = encodeMessage(opcodes.text, payload);
    const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
    const maskAt = 2 + lengthBytes;
    const mask = bytes.subarray(maskAt, maskAt + 4);
    expect([bytes[0], (bytes[1] ?? 0) & 0x80, bytes.length]).toEqual([0x81, 0x80, maskAt + 4 + length]);
    const plain = bytes.subarray(maskAt + 4).map((byte, at) => byte ^ (mask[at & 3] ?? 0));
    expect(Buffer.compare(plain, payload)).toBe(0);
  });
});
