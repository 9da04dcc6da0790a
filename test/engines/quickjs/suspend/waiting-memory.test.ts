import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../../../src/engines/engine.ts';
import { makeCellDir } from '../../../../src/engines/quickjs/suspend/cell-dir.ts';
import { WaitingMemory } from '../../../../src/engines/quickjs/suspend/waiting-memory.ts';
import { type CellEngine, outputOf, startCellEngine } from '../cell-engine.ts';

const MIB = 1024 * 1024;
/** All calls together hold several times what may stay in memory; what of it is resident is less than what they hold. */
const crowd =
  process.env.HOTCELL_LONG === undefined
    ? { calls: 16, heldBytes: 40 * MIB, maxMemoryBytes: 96 * MIB, maxResidentMiB: 450, maxLeftMiB: 300 }
    : { calls: 40, heldBytes: 80 * MIB, maxMemoryBytes: 384 * MIB, maxResidentMiB: 1024, maxLeftMiB: 400 };
const limits = { memoryBytes: 96 * MIB, wallMs: 300_000, cpuMs: 60_000 };

/** Fills its memory, waits, and says afterwards whether all of it is as it was. */
const HOLDS = `{ handler: async (args, context) => {
  const held = new Uint8Array(args.bytes).fill(args.n);
  await context.kv.get('gate');
  return held.indexOf(255) < 0 && held[0] === args.n && held.at(-1) === args.n && held.length;
} }`;

let cells: CellEngine;
let gate: PromiseWithResolvers<void>;
beforeEach(() => {
  gate = Promise.withResolvers();
});
afterEach(() => cells.close());

function answer() {
  return gate.promise.then(() => ({ ok: true, payload: 'null' }) as const);
}

function stored(): readonly string[] {
  const [own = ''] = readdirSync(join(cells.dataDir, 'cells'));
  return readdirSync(join(cells.dataDir, 'cells', own));
}

const codeOf = (outcome: RunOutcome) => (outcome.status === 'success' ? outcome.output : outcome.error.code);

describe('calls that hold much memory while they wait', () => {
  it('stay within the bounds of memory, all of it comes back, and it is given back afterwards', async () => {
    const { heldBytes, maxMemoryBytes, maxResidentMiB, maxLeftMiB } = crowd;
    cells = await startCellEngine({ min: 2, max: 4 }, { maxMemoryBytes, maxStoredBytes: 4096 * MIB });
    const program = await cells.load(HOLDS);
    const neighbour = await cells.load('{ handler: () => 1 }');
    const before = process.memoryUsage.rss();
    let asked = 0;
    const calls = Array.from({ length: crowd.calls }, (_, n) =>
      cells.call(program, {
        caller: 'ann',
        limits,
        args: { bytes: heldBytes, n: n + 1 },
        answer: () => {
          asked++;
          return answer();
        },
      }),
    );
    await expect.poll(() => asked, { timeout: 120_000 }).toBe(crowd.calls);
    expect(outputOf(await cells.call(neighbour, { caller: 'bob' }))).toBe(1);
    expect((process.memoryUsage.rss() - before) / MIB).toBeLessThan(maxResidentMiB);
    expect(stored().length).toBeGreaterThan(crowd.calls - 10);
    gate.resolve();
    expect(new Set((await Promise.all(calls)).map(codeOf))).toEqual(new Set([heldBytes]));
    await expect.poll(() => (process.memoryUsage.rss() - before) / MIB, { timeout: 60_000 }).toBeLessThan(maxLeftMiB);
    expect(stored()).toEqual([]);
  }, 300_000);

  it('are ended in words where there is no room at all, and another caller still has some', async () => {
    cells = await startCellEngine({ min: 1, max: 1 }, { maxMemoryBytes: 32 * MIB, maxStoredBytes: 64 * MIB });
    const program = await cells.load(HOLDS);
    const hold = (caller: string, n: number) => cells.call(program, { caller, limits, args: { bytes: 10 * MIB, n }, answer });
    const ofAnn = Array.from({ length: 10 }, (_, n) => hold('ann', n));
    const refused = await Promise.race(ofAnn);
    expect(codeOf(refused)).toBe('waiting-memory-exceeded');
    const ofBob = hold('bob', 7);
    gate.resolve();
    expect(codeOf(await ofBob)).toBe(10 * MIB);
    const ends = (await Promise.all(ofAnn)).map(codeOf);
    expect(ends.filter((end) => end === 10 * MIB)).toHaveLength(6);
    expect(ends.filter((end) => end === 'waiting-memory-exceeded')).toHaveLength(4);
  }, 120_000);

  it('leave no file when they are cancelled, and none is left by a process that is gone', async () => {
    cells = await startCellEngine({ min: 1, max: 1 }, { maxMemoryBytes: 0, maxStoredBytes: 1024 * MIB });
    const program = await cells.load(HOLDS);
    const controller = new AbortController();
    const calls = Array.from({ length: 5 }, (_, n) =>
      cells.call(program, { limits, args: { bytes: MIB, n }, answer, signal: controller.signal }),
    );
    // Each thread keeps one in its memory, and a busy machine gets a second thread.
    await expect.poll(() => stored().length, { timeout: 60_000 }).toBeGreaterThan(2);
    controller.abort();
    expect(new Set((await Promise.all(calls)).map(codeOf))).toEqual(new Set(['cancelled']));
    expect(stored()).toEqual([]);
  }, 120_000);

  it('also as kept cells: one without room is lost, and its next call hears of it', async () => {
    cells = await startCellEngine({ min: 1, max: 1 }, { maxMemoryBytes: 8 * MIB, maxStoredBytes: 16 * MIB });
    const program = await cells.load(
      '(() => { const held = []; return { handler: async () => { held.push(new Uint8Array(3_000_000).fill(1)); return held.length; } }; })()',
    );
    const lengths: unknown[] = [];
    for (const cellKey of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'a', 'h']) {
      lengths.push(codeOf(await cells.call(program, { isolation: 'session', cellKey })));
    }
    expect(lengths.slice(0, 8)).toEqual(Array(8).fill(1));
    expect(lengths[8]).toBe(2);
    expect(lengths[9]).toBe(1);
    expect(cells.warnings).toEqual([expect.stringContaining('waiting.maxMemoryBytes')]);
  }, 120_000);
});

describe('WaitingMemory', () => {
  const cell = (id: number) => ({ id, program: program(), isInUse: true, place: { kind: 'new' } }) as const;
  const whose = (callerId: string) => ({ callerId, isAdmin: false });

  it('gives a caller three quarters, and all of it back', () => {
    const book = new WaitingMemory({ maxMemoryBytes: 8 * MIB, maxStoredBytes: 0 });
    const [one, two, three] = [cell(1), cell(2), cell(3)];
    expect([
      book.hold(one, whose('ann'), 4 * MIB),
      book.hold(two, whose('ann'), 4 * MIB),
      book.hold(three, whose('bob'), 3 * MIB),
    ]).toEqual([true, false, true]);
    book.release(one);
    book.release(three);
    expect(book.hold(two, whose('ann'), 6 * MIB)).toBe(true);
  });

  it('gives no more to all together, and where there is no room in memory, what there is on the disk', () => {
    const book = new WaitingMemory({ maxMemoryBytes: 8 * MIB, maxStoredBytes: 8 * MIB });
    const cells = [1, 2, 3, 4, 5].map(cell);
    const held = cells.map((each, index) => [book.hold(each, whose(`caller ${index}`), 3.5 * MIB), book.isForDisk(each)]);
    const [inMemory, onDisk, nowhere] = [
      [true, false],
      [true, true],
      [false, false],
    ];
    expect(held).toEqual([inMemory, inMemory, onDisk, onDisk, nowhere]);
    const admin = { callerId: 'admin', isAdmin: true };
    const more = [6, 7, 8].map(cell);
    // The last eighth of both is theirs.
    expect(book.hold(cell(9), whose('ann'), MIB)).toBe(false);
    expect(more.map((each) => [book.hold(each, admin, MIB), book.isForDisk(each)])).toEqual([inMemory, onDisk, nowhere]);
  });
});

describe('makeCellDir', () => {
  it('removes what a process that is gone left, and nothing of one that runs', () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-cells-'));
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    const others = [`${gone}-left`, `${process.pid}-runs`];
    for (const name of others) mkdirSync(join(dataDir, 'cells', name), { recursive: true });
    const own = makeCellDir(dataDir);
    expect(readdirSync(join(dataDir, 'cells')).sort()).toEqual([basename(own), `${process.pid}-runs`].sort());
    rmSync(dataDir, { recursive: true });
  });
});

function program() {
  return { key: 'p', label: 'p', readCode: async () => '', readImage: async () => undefined, saveImage: () => {} };
}
