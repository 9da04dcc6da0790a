import { Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { GuestStreams } from '../../../src/engines/process/streams.ts';
import { HotcellError } from '../../../src/errors/hotcell-error.ts';
import { streamWindowBytes } from '../../../src/guests/process/frames.ts';
import { GuestMisbehaved, type HostMessage } from '../../../src/guests/process/protocol.ts';

/** Connections over a server of memory: what the guest writes arrives in `heard`, what `speak` writes goes to the guest. */
function open(options: { readonly slow?: boolean; readonly fail?: Error } = {}) {
  const sent: (HostMessage & { readonly text: string; readonly size: number })[] = [];
  const heard: Buffer[] = [];
  const speak = new PassThrough({ highWaterMark: 2 * streamWindowBytes });
  const signals: AbortSignal[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      heard.push(chunk);
      if (!options.slow) done();
    },
  });
  speak.on('data', (chunk) => socket.push(chunk)).on('end', () => socket.push(null));
  const streams = new GuestStreams({
    dial: async (_to, signal) => {
      signals.push(signal);
      if (options.fail) throw options.fail;
      return socket;
    },
    send: (message, text = '', body) => sent.push({ ...message, text, size: body?.byteLength ?? 0 }),
  });
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { streams, sent, heard, speak, socket, signals, settled, kinds: () => sent.map(({ t }) => t) };
}

const place = { host: 'a.example', port: 1 };

describe('GuestStreams', () => {
  it('opens a connection, passes bytes both ways and says how many were taken', async () => {
    const { streams, sent, heard, speak, settled } = open();
    streams.dial(1, place);
    await settled();
    streams.take({ t: 'data', id: 1 }, new Uint8Array([1, 2]));
    await settled();
    speak.write('abc');
    await settled();
    expect(heard).toEqual([Buffer.from([1, 2])]);
    expect(sent).toMatchObject([
      { t: 'opened', id: 1 },
      { t: 'ack', id: 1, bytes: 2 },
      { t: 'data', id: 1, size: 3 },
    ]);
  });

  it('says why a connection is not opened', async () => {
    const fail = new HotcellError('permission-denied', 'No.', { fix: 'Ask.' });
    const { streams, sent, settled } = open({ fail });
    streams.dial(1, place);
    streams.dial(2, place, { code: 'host-calls-exceeded', message: 'Too many.' });
    await settled();
    expect(sent.map(({ text }) => JSON.parse(text))).toEqual([
      { code: 'host-calls-exceeded', message: 'Too many.' },
      { code: 'permission-denied', message: 'No. Ask.' },
    ]);
    expect(sent).toMatchObject([{ id: 2 }, { id: 1 }]);
    expect(streams.count()).toBe(0);
  });

  it('tells the guest nothing of a failure of its own', async () => {
    const { streams, sent, settled } = open({ fail: new Error('/home/somebody/secret') });
    streams.dial(1, place);
    await settled();
    expect(sent).toMatchObject([{ t: 'close', text: expect.not.stringContaining('somebody') }]);
  });

  it('reads no more than a window ahead of the guest', async () => {
    const { streams, socket, speak, settled } = open();
    streams.dial(1, place);
    await settled();
    speak.write(Buffer.alloc(streamWindowBytes));
    await settled();
    expect(socket.isPaused()).toBe(true);
    streams.take({ t: 'ack', id: 1, bytes: 1000 }, undefined);
    expect(socket.isPaused()).toBe(false);
  });

  it.each<[string, (streams: GuestStreams) => void]>([
    ['dials twice under one number', (streams) => streams.dial(1, place)],
    ['writes more than the window', (streams) => streams.take({ t: 'data', id: 1 }, new Uint8Array(streamWindowBytes + 1))],
    [
      'writes more than the window in pieces',
      (streams) => {
        for (let n = 0; n < 5; n++) streams.take({ t: 'data', id: 1 }, new Uint8Array(streamWindowBytes / 4));
      },
    ],
    ['says that it read what never came', (streams) => streams.take({ t: 'ack', id: 1, bytes: 1 }, undefined)],
  ])('gives up on a guest that %s', async (_what, misbehave) => {
    const { streams, settled } = open({ slow: true });
    streams.dial(1, place);
    await settled();
    expect(() => misbehave(streams)).toThrow(GuestMisbehaved);
  });

  it('gives up on a guest that writes before the connection is open', () => {
    const { streams } = open();
    streams.dial(1, place);
    expect(() => streams.take({ t: 'data', id: 1 }, new Uint8Array(1))).toThrow(GuestMisbehaved);
  });

  it('knows nothing of connections that are over', async () => {
    const { streams, socket, settled } = open();
    streams.dial(1, place);
    await settled();
    expect(streams.take({ t: 'close', id: 1 }, undefined)).toBe(true);
    expect(socket.destroyed).toBe(true);
    expect(streams.take({ t: 'data', id: 1 }, new Uint8Array(1))).toBe(false);
  });

  it('ends them with the call, also those that are still dialled, and opens no more', async () => {
    const { streams, socket, signals, kinds, settled } = open();
    streams.dial(1, place);
    streams.close();
    await settled();
    expect([signals[0]?.aborted, socket.destroyed, streams.count()]).toEqual([true, true, 0]);
    streams.dial(2, place);
    await settled();
    expect(kinds()).toEqual(['close']);
  });

  it('says when the other side is done, and when the connection breaks', async () => {
    const { streams, sent, speak, socket, settled } = open();
    streams.dial(1, place);
    await settled();
    speak.end();
    await settled();
    socket.destroy(new Error('reset'));
    await settled();
    expect(sent).toMatchObject([{ t: 'opened' }, { t: 'end' }, { t: 'close', text: expect.stringContaining('network-failed') }]);
  });
});
