import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAILBOX_BYTES, MainMailbox, ThreadMailbox } from '../../../src/engines/quickjs/mailbox.ts';
import type { PackedResult, PackedSlices } from '../../../src/engines/quickjs/protocol.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

const trip: PackedSlices = ['program', 1, 10, '', '{"a":"ü€😀"}', '{"seed":1}', 2, 11, 'named', '{}', ''];

function openPair() {
  const memory = new SharedArrayBuffer(MAILBOX_BYTES);
  const rung = { thread: 0, main: 0 };
  const main = new MainMailbox(memory, () => rung.thread++);
  const thread = new ThreadMailbox(memory, () => rung.main++);
  const ends: PackedResult[] = [];
  return { main, thread, rung, ends, onEnd: (end: PackedResult) => void ends.push(end) };
}

describe('a mailbox', () => {
  it('carries trips and their ends, whatever the texts hold', () => {
    const { main, thread, ends, onEnd } = openPair();
    for (let round = 0; round < 3; round++) {
      expect(main.send(trip)).toBe(true);
      expect(thread.receive()).toEqual(trip);
      expect(thread.receive()).toBeUndefined();
      expect(thread.send([1, '"😀 done"', 0.25])).toBe(true);
      main.take(onEnd);
      expect(thread.send([2, '', 1])).toBe(true);
      main.take(onEnd);
      main.take(onEnd);
      expect(ends.splice(0)).toEqual([
        [1, '"😀 done"', 0.25],
        [2, '', 1],
      ]);
    }
  });

  it('wakes only who sleeps, and nobody sleeps over what came', () => {
    const { main, thread, rung, ends, onEnd } = openPair();
    main.send(trip);
    expect(rung.thread).toBe(1);
    thread.receive();
    thread.send([1, '1', 0]);
    thread.ringIfAsleep();
    thread.ringIfAsleep();
    expect(rung.main).toBe(1);
    main.takeAndSleep(onEnd);
    main.stayAwake();
    thread.send([2, '2', 0]);
    thread.ringIfAsleep();
    expect(rung.main).toBe(1);
    main.takeAndSleep(onEnd);
    expect(ends.length).toBe(2);
    main.send(trip);
    expect(thread.sleep()).toBe(false);
    thread.receive();
    expect(thread.sleep()).toBe(true);
    main.send(trip);
    expect(rung.thread).toBe(2);
  });

  it('lets nothing overtake a message, and takes no more than it has room for', () => {
    const { main, thread } = openPair();
    main.notePosted();
    expect(main.send(trip)).toBe(false);
    expect(thread.hasPosted()).toBe(true);
    thread.noteHandled();
    expect(main.send(['program', 1, 1, 'x'.repeat(30_000), ''])).toBe(false);
    expect(main.send(trip)).toBe(true);
    expect(thread.send([1, '1', 0])).toBe(false);
    thread.receive();
    expect(thread.send([1, 'x'.repeat(30_000), 0])).toBe(false);
    expect(thread.send([1, '€'.repeat(20_000), 0])).toBe(true);
    expect(thread.send([2, '€'.repeat(20_000), 0])).toBe(false);
    thread.close();
    expect(thread.send([2, '2', 0])).toBe(false);
  });

  it('hands an end over in whose course the next trip goes out', () => {
    const { main, thread, ends, onEnd } = openPair();
    main.send(['program', 1, 1, '', '']);
    thread.receive();
    thread.send([1, 'first', 0]);
    main.take((end) => {
      onEnd(end);
      if (ends.length > 1) return;
      main.send(['program', 2, 2, '', '']);
      thread.receive();
      thread.send([2, 'second', 0]);
    });
    expect(ends.map(([, text]) => text)).toEqual(['first', 'second']);
  });
});

describe('calls that travel through it', () => {
  let cells: CellEngine;
  beforeAll(async () => {
    cells = await startCellEngine({ min: 1, max: 2 });
  });
  afterAll(() => cells.close());

  it('get them also where such that cannot travel through it were in between', async () => {
    const program = await cells.load('{ handler: ({ n }) => n }');
    for (let round = 0; round < 12; round++) {
      const limits = round % 2 === 0 ? {} : { limits: { cpuMs: 900 } };
      const calls = Array.from({ length: 40 }, (_, n) => cells.call(program, { args: { n }, ...limits }));
      expect((await Promise.all(calls)).map(outputOf)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    }
  });

  it('get them where one that looks at no clock runs in between, and those behind it run elsewhere', async () => {
    const program = await cells.load("{ handler: ({ n }) => (n === 3 ? new Array(1e9) + '' : n) }");
    for (let n = 10; n < 40; n++) await cells.call(program, { args: { n } });
    const stop = new AbortController();
    const calls = Array.from({ length: 20 }, (_, n) => cells.call(program, { args: { n }, signal: stop.signal }));
    const [stuck] = calls.splice(3, 1);
    expect((await Promise.all(calls)).map(outputOf)).toEqual(Array.from({ length: 20 }, (_, n) => n).filter((n) => n !== 3));
    stop.abort();
    expect((await stuck)?.status).toBe('cancelled');
  });

  it('get their own answers beside those that are too large for it, log or fail', async () => {
    const program = await cells.load(`{ handler: ({ n, kind, text }) => {
      if (kind === 'log') console.log(String(n));
      if (kind === 'throw') throw new Error('no ' + n);
      return { n, text: kind === 'large' ? 'x'.repeat(100000) : text };
    } }`);
    for (let round = 0; round < 8; round++) {
      await Promise.all(
        Array.from({ length: 24 }, async (_, n) => {
          const kind = ['plain', 'plain', 'large', 'log', 'throw', 'long'][n % 6];
          const text = kind === 'long' ? '€'.repeat(40_000) : `😀${n}`;
          const outcome = await cells.call(program, { args: { n, kind, text } });
          if (kind === 'throw') expect(outcome.status).toBe('error');
          else expect(outputOf(outcome)).toEqual({ n, text: kind === 'large' ? 'x'.repeat(100_000) : text });
        }),
      );
    }
  });
});
