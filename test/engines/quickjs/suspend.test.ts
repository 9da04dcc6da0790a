import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BorderAnswer, BorderHost, BorderRequest } from '../../../src/border/border.ts';
import { defaultLimits } from '../../../src/config/limits.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import type { Engine, Program, RunOutcome, RunRequest } from '../../../src/engines/engine.ts';
import { createQuickJsEngine } from '../../../src/engines/quickjs/engine.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine();
});
afterAll(() => cells.close());

const ASKS = `{ handler: async (args, context) => {
  const seen = [Math.random() < 2];
  for (let round = 0; round < 3; round++) seen.push((await context.kv.get('q' + round)).key ?? 'nothing', round);
  return [...seen, Math.random()];
} }`;

/** A call that a test answers by hand. */
interface Held {
  readonly outcome: Promise<RunOutcome>;
  readonly asked: BorderRequest[];
  /** Resolves when the call waits for the nth time. */
  waits(count: number): Promise<void>;
  answer(request: BorderRequest | undefined, answer: BorderAnswer): void;
  readonly controller: AbortController;
  readonly request: RunRequest;
}

let executions = 0;

function hold(engine: Engine, program: Program, options: Partial<RunRequest> = {}, suspended?: Uint8Array): Held {
  const asked: BorderRequest[] = [];
  const resolvers = new Map<BorderRequest, (answer: BorderAnswer) => void>();
  const waiters: Array<{ count: number; resolve: () => void }> = [];
  let waitCount = 0;
  const host: BorderHost = {
    answer(request) {
      asked.push(request);
      return new Promise((resolve) => resolvers.set(request, resolve));
    },
    view: () => ({ config: {}, env: {}, denied: {} }),
    log: () => {},
    progress: () => {},
    waiting(isWaiting) {
      if (!isWaiting) return;
      waitCount++;
      for (const { count, resolve } of waiters) if (waitCount >= count) resolve();
    },
  };
  const request: RunRequest = {
    executionId: `held-${++executions}`,
    program,
    handler: 'default',
    argumentsJson: '{}',
    isolation: 'call',
    cellKey: '',
    limits: defaultLimits,
    deadline: new Deadline(20_000),
    caller: 'tester',
    session: 's1',
    holder: { callerId: 'tester', unitPath: 'tried.ts', isAdmin: false },
    ...options,
  };
  const controller = new AbortController();
  const outcome = suspended
    ? (engine.resume?.(request, suspended, host, controller.signal) ?? Promise.reject(new Error('cannot resume')))
    : engine.run(request, host, controller.signal);
  outcome.catch(() => {});
  return {
    outcome,
    asked,
    controller,
    request,
    waits: (count) =>
      new Promise((resolve) => {
        if (waitCount >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    answer(question, answer) {
      if (question) resolvers.get(question)?.(answer);
    },
  };
}

const keyed = (key: string): BorderAnswer => ({ ok: true, payload: JSON.stringify({ key }) });

async function suspend(engine: Engine, held: Held): Promise<Uint8Array> {
  const bytes = await engine.suspend?.(held.request.executionId);
  if (!bytes) throw new Error('the call does not wait');
  return bytes;
}

async function endHeld(held: Held): Promise<RunOutcome> {
  held.controller.abort();
  return held.outcome;
}

describe('Engine.suspend and Engine.resume', () => {
  it('goes on in another engine over another folder, on the very line, with the local state', async () => {
    const program = await cells.load(ASKS);
    const held = hold(cells.engine, program);
    await held.waits(1);
    held.answer(held.asked[0], keyed('first'));
    await held.waits(2);
    const bytes = await suspend(cells.engine, held);
    held.answer(held.asked[1], keyed('second'));
    await held.waits(3);
    held.answer(held.asked[2], keyed('third'));
    const here = await held.outcome;

    const other = await startCellEngine();
    const resumed = hold(other.engine, program, {}, bytes);
    await resumed.waits(1);
    expect(resumed.asked).toEqual([{ id: 2, op: 'kv.get', payload: '{"key":"q1"}', again: true }]);
    resumed.answer(resumed.asked[0], keyed('second'));
    await resumed.waits(2);
    resumed.answer(resumed.asked[1], keyed('third'));
    const there = await resumed.outcome;
    expect(outputOf(there)).toEqual(outputOf(here));
    expect(outputOf(there)).toEqual([true, 'first', 0, 'second', 1, 'third', 2, expect.any(Number)]);
    expect(there.recording).toEqual(here.recording);
    await other.close();
  });

  it('goes on with bytes that were taken from a cell that had been moved out for others', async () => {
    const program = await cells.load(ASKS);
    const held = Array.from({ length: 30 }, () => hold(cells.engine, program));
    for (const each of held) await each.waits(1);
    const kept = await Promise.all(held.map((each) => suspend(cells.engine, each)));
    for (const each of held) expect((await endHeld(each)).status).toBe('cancelled');
    const resumed = kept.map((bytes) => hold(cells.engine, program, {}, bytes));
    const outputs = await Promise.all(
      resumed.map(async (each, index) => {
        for (let round = 0; round < 3; round++) {
          await each.waits(round + 1);
          each.answer(each.asked[round], keyed(`${index}-${round}`));
        }
        return outputOf(await each.outcome);
      }),
    );
    outputs.forEach((output, index) => {
      expect(output).toEqual([true, `${index}-0`, 0, `${index}-1`, 1, `${index}-2`, 2, expect.any(Number)]);
    });
  });

  it('lets a timer fire after what was left of it, and asks again what was open beside it', async () => {
    const program = await cells.load(
      `{ handler: async (args, context) => {
        const timer = new Promise((resolve) => setTimeout(resolve, 60, 'rang'));
        return Promise.all([timer, context.kv.get('k').catch((error) => error.code)]);
      } }`,
    );
    const held = hold(cells.engine, program);
    await held.waits(1);
    const bytes = await suspend(cells.engine, held);
    await endHeld(held);
    const resumed = hold(cells.engine, program, {}, bytes);
    await resumed.waits(1);
    resumed.answer(resumed.asked[0], { ok: false, code: 'interrupted', message: 'The daemon stopped.' });
    expect(outputOf(await resumed.outcome)).toEqual(['rang', 'interrupted']);
  });

  it('registers the cell of a session again, for the calls that come after', async () => {
    const program = await cells.load(
      `(() => { let count = 0; return { handler: async (args, context) => {
        count++;
        if (args.ask) await context.kv.get('k');
        return count;
      } } })()`,
    );
    const options = { isolation: 'session', cellKey: 'cell of ann' } as const;
    expect(outputOf(await hold(cells.engine, program, options).outcome)).toBe(1);
    const held = hold(cells.engine, program, { ...options, argumentsJson: '{"ask":true}' });
    await held.waits(1);
    const bytes = await suspend(cells.engine, held);
    await endHeld(held);
    const other = await startCellEngine();
    const resumed = hold(other.engine, program, options, bytes);
    await resumed.waits(1);
    resumed.answer(resumed.asked[0], keyed('yes'));
    expect(outputOf(await resumed.outcome)).toBe(2);
    expect(outputOf(await hold(other.engine, program, options).outcome)).toBe(3);
    await other.close();
  });

  it('brings its own image along when that of the program was built again and came out otherwise', async () => {
    const program = await cells.load(
      `(() => { const born = String(Date.now()) + Math.random(); return { handler: async (args, context) => {
        const before = born;
        await context.kv.get('k');
        return before === born && born;
      } } })()`,
    );
    const held = hold(cells.engine, program, { isolation: 'session', cellKey: 'variant' });
    await held.waits(1);
    const bytes = await suspend(cells.engine, held);
    const other = await startCellEngine();
    const resumed = hold(other.engine, program, { isolation: 'session', cellKey: 'variant' }, bytes);
    await resumed.waits(1);
    resumed.answer(resumed.asked[0], keyed('x'));
    held.answer(held.asked[0], keyed('x'));
    const born = outputOf(await held.outcome);
    expect(outputOf(await resumed.outcome)).toBe(born);
    const next = hold(other.engine, program, { isolation: 'session', cellKey: 'variant' });
    await next.waits(1);
    next.answer(next.asked[0], keyed('x'));
    expect(outputOf(await next.outcome)).toBe(born);
    await other.close();
  });

  it('says nothing of a call that does not wait, or is not there', async () => {
    expect(await cells.engine.suspend?.('nobody')).toBeUndefined();
    const program = await cells.load('{ handler: () => { for (const end = Date.now() + 50; Date.now() < end; ); return 1; } }');
    const held = hold(cells.engine, program);
    expect(await cells.engine.suspend?.(held.request.executionId)).toBeUndefined();
    expect(outputOf(await held.outcome)).toBe(1);
  });

  it('keeps the limits over a suspension', async () => {
    const program = await cells.load(ASKS);
    const limits = { ...defaultLimits, hostCalls: 2 };
    const held = hold(cells.engine, program, { limits });
    await held.waits(1);
    held.answer(held.asked[0], keyed('first'));
    await held.waits(2);
    const bytes = await suspend(cells.engine, held);
    await endHeld(held);
    const resumed = hold(cells.engine, program, { limits }, bytes);
    await resumed.waits(1);
    resumed.answer(resumed.asked[0], keyed('second'));
    expect(await resumed.outcome).toMatchObject({ status: 'error', error: { code: 'host-calls-exceeded' } });
  });

  it('refuses every flipped bit, a cut end, other code and another version', async () => {
    const program = await cells.load(ASKS);
    const held = hold(cells.engine, program);
    await held.waits(1);
    const bytes = await suspend(cells.engine, held);
    await endHeld(held);
    const broken = [new Uint8Array(), bytes.subarray(0, 20), bytes.subarray(0, bytes.length - 1)];
    for (let step = 0; step < 60; step++) {
      const copy = new Uint8Array(bytes);
      const at = Math.floor((step / 60) * bytes.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << (step % 8));
      broken.push(copy);
    }
    for (const each of broken) {
      await expect(hold(cells.engine, program, {}, each).outcome).rejects.toMatchObject({ code: 'interrupted' });
    }
    const edited = await cells.load(ASKS.replace('round < 3', 'round < 4'));
    await expect(hold(cells.engine, edited, {}, bytes).outcome).rejects.toThrow('the code of its plugin is not the one');
  });
});

describe('createQuickJsEngine', () => {
  it('makes the same base image again when its cache is gone', async () => {
    const first = await startCellEngine();
    const program = await first.load(ASKS);
    const held = hold(first.engine, program);
    await held.waits(1);
    const bytes = await suspend(first.engine, held);
    await first.close();
    const dataDir = join(import.meta.dirname, `.base-${process.pid}`);
    const engine = await createQuickJsEngine({ dataDir, workers: { min: 1, max: 1 } });
    const resumed = hold(engine, program, {}, bytes);
    await resumed.waits(1);
    expect(resumed.asked).toHaveLength(1);
    await endHeld(resumed);
    await engine.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
});
