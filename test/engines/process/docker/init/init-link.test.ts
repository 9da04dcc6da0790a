import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createInitFrameReader,
  encodeInitFrame,
  encodeNumber,
  fromInit,
  type InitFrame,
  toInit,
  windowBytes,
} from '../../../../../src/engines/process/docker/init/init-frames.ts';
import { InitLink } from '../../../../../src/engines/process/docker/init/init-link.ts';

/** As Docker packs what a container writes to its standard output. */
function pack(bytes: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(1, 0);
  head.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

describe('InitLink', () => {
  let container: Duplex;
  let link: InitLink;
  let heard: InitFrame[];
  let said: InitFrame[];
  let down: Promise<void>;
  const say = (bytes: Buffer) => container.write(pack(bytes));

  beforeEach(() => {
    const [daemon, other] = duplexPair();
    container = other;
    heard = [];
    said = [];
    const isDown = Promise.withResolvers<void>();
    down = isDown.promise;
    link = new InitLink(daemon, { onFrame: (frame) => heard.push(frame), onDown: isDown.resolve });
    const read = createInitFrameReader((frame) => said.push(frame));
    container.on('data', (bytes: Buffer) => read(bytes));
  });

  it.each([
    ['a number', encodeInitFrame(fromInit.ack, 1, Buffer.alloc(3))],
    ['an end', encodeInitFrame(fromInit.exit, 0, Buffer.alloc(7))],
    ['a failure', encodeInitFrame(fromInit.failed)],
    ['an answer about files', encodeInitFrame(fromInit.filesOk, 0, Buffer.alloc(2))],
  ])('goes down with all its channels at a frame that is too short for %s', async (_what, frame) => {
    const channel = link.open(16);
    const isClosed = once(channel, 'close');
    say(frame);
    await Promise.all([down, isClosed]);
    expect(link).toMatchObject({ isDown: true, isGarbled: true });
    expect(heard).toEqual([]);
  });

  it('goes down when its listener cannot take a frame', async () => {
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    link.listen({ onFrame: ({ channel }) => void link.open(channel), onDown: resolve });
    say(encodeInitFrame(fromInit.accept, 16));
    say(encodeInitFrame(fromInit.accept, 16));
    await isOver;
    expect(link.isGarbled).toBe(true);
  });

  it('hands the frames of an open channel to its stream alone, and holds both sides to a window', async () => {
    const channel = link.open(16);
    say(encodeInitFrame(fromInit.data, 16, Buffer.from('hello')));
    say(encodeInitFrame(fromInit.data, 17, Buffer.from('other')));
    const [bytes] = await once(channel, 'data');
    expect(String(bytes)).toBe('hello');
    channel.end(Buffer.alloc(windowBytes + 1, 'x'));
    say(encodeNumber(fromInit.ack, 16, 1));
    await once(channel, 'finish');
    const sent = said.filter(({ type }) => type !== toInit.ack);
    expect(sent.map(({ type, payload }) => [type, payload.length])).toEqual([
      [toInit.data, windowBytes],
      [toInit.data, 1],
      [toInit.end, 0],
    ]);
    expect(heard.map(({ channel: id }) => id)).toEqual([17]);
  });

  it('ends a channel that is sent more than its window before it is read', async () => {
    const channel = link.open(16);
    for (let part = 0; part < 4; part++) say(encodeInitFrame(fromInit.data, 16, Buffer.alloc(windowBytes / 2)));
    await once(channel, 'close');
    expect(link.isDown).toBe(false);
    expect(said.at(-1)).toMatchObject({ type: toInit.close, channel: 16 });
  });
});
