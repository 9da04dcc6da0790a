import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Capability } from '../../src/border/capability.ts';
import { decideApproval } from '../../src/calls/approval.ts';
import type { CallAnswer } from '../../src/calls/call-types.ts';
import { createQuestions } from '../../src/capabilities/questions.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { Answerer, Approval } from '../../src/permissions/approvals/approval-types.ts';
import { createRedactor } from '../../src/secrets/redaction.ts';
import type { ServedUnit } from '../../src/units/unit.ts';
import {
  admin,
  ann,
  type CallingHouse,
  type HouseOptions,
  openHouse,
  type PublishOptions,
  startEngine,
} from './calling-house.ts';

const flags = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: true,
  isElevated: false,
  isParallelSafe: true,
};
const dangerous: PublishOptions = { tool: { flags } };
const wipes = '{ handler: (args) => "wiped " + args.disk }';
const person: Answerer = { id: 'boss', role: 'admin', mayAnswer: false, isPerson: true };
const generations = new Map<string, ServedUnit>();

let house: CallingHouse | undefined;
let folder: string | undefined;

afterEach(async () => {
  await house?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  house = undefined;
  folder = undefined;
});

/** A house whose plugins ask with the real capability; everything else behind the border answers with its name. */
async function open(options: HouseOptions = {}): Promise<CallingHouse> {
  let confirm: Capability | undefined;
  const opened = await openHouse({
    ...options,
    answer: async (request, user, signal) => {
      if (request.op !== 'confirm') return { ok: true, payload: JSON.stringify(request.op) };
      try {
        confirm ??= createQuestions(opened.approvals);
        const answered = await confirm.operations.confirm?.(request, user, signal);
        return { ok: true, payload: JSON.stringify(answered?.payload) };
      } catch (error) {
        return { ok: false, code: error instanceof HotcellError ? error.code : 'cancelled', message: String(error) };
      }
    },
    parts: { findServable: (id) => generations.get(id), ...options.parts },
  });
  house = opened;
  return opened;
}

async function publish(opened: CallingHouse, name: string, plugin: string, options?: PublishOptions): Promise<void> {
  const published = await opened.publish(name, plugin, options);
  generations.set(published.unit.id, published);
}

async function findQuestion({ approvals }: CallingHouse): Promise<Approval & { executionId: string }> {
  await expect.poll(() => approvals.list({ status: 'open', limit: 10 }).length).toBe(1);
  const [question] = approvals.list({ status: 'open', limit: 10 });
  if (question?.executionId === undefined) throw new Error('no question of a call');
  return { ...question, executionId: question.executionId };
}

const call = (opened: CallingHouse, ref: string, args: object = {}, caller = ann): Promise<CallAnswer> =>
  opened.caller.call({ ref, arguments: args, caller });

describe('decideApproval', () => {
  const facts = { tool: 'wipe', flags, who: undefined, granted: () => ({}) };

  it('asks for dangerous tools but where the operator trusts them, and for tools of both every time', () => {
    expect(decideApproval(facts)).toBe('dangerous');
    expect(decideApproval({ ...facts, granted: () => ({ dangerous: ['wipe'] }) })).toBeUndefined();
    expect(decideApproval({ ...facts, granted: () => ({ dangerous: ['w*'] }) })).toBeUndefined();
    expect(decideApproval({ ...facts, granted: () => ({ dangerous: ['other'] }) })).toBe('dangerous');
    expect(decideApproval({ ...facts, who: 'both', granted: () => ({ dangerous: ['*'] }) })).toBe('hybrid');
    expect(decideApproval({ ...facts, flags: { isDangerous: false } })).toBeUndefined();
    expect(decideApproval({ ...facts, flags: { isDangerous: false }, who: 'person' })).toBeUndefined();
  });
});

describe('a call of a dangerous tool', () => {
  it('waits as pending for every role, outside of the queue, and begins with what was shown', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    for (const caller of [ann, admin]) {
      const answer = call(opened, 'wipe', { disk: 'C' }, caller);
      const { id, executionId, ...question } = await findQuestion(opened);
      expect(question).toMatchObject({
        kind: 'call',
        reason: 'dangerous',
        caller: caller.id,
        details: { arguments: { disk: 'C' }, version: '1.0.0' },
      });
      expect(opened.reader.get(executionId, admin).status).toBe('pending');
      expect(opened.caller.load()).toEqual({ pending: 0, running: 0 });
      opened.approvals.answer(id, 'approved', person);
      expect(await answer).toMatchObject({ status: 'success', output: 'wiped C', executionId });
    }
    expect(opened.store.parkedCalls.list()).toEqual([]);
    expect(opened.leases.open).toBe(0);
  });

  it('ends as denied, and as cancelled while it waits, which withdraws the question', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    const denied = call(opened, 'wipe', { disk: 'C' });
    opened.approvals.answer((await findQuestion(opened)).id, 'denied', person);
    expect(await denied).toMatchObject({ status: 'error', error: { code: 'approval-denied' } });
    const cancelled = call(opened, 'wipe', { disk: 'C' });
    const question = await findQuestion(opened);
    expect(opened.caller.cancel(question.executionId, ann)).toBe(true);
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    expect(opened.approvals.get(question.id)?.status).toBe('withdrawn');
    expect(opened.store.parkedCalls.list()).toEqual([]);
    expect(opened.leases.open).toBe(0);
  });

  it('has its own time after the wait', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    const answer = opened.caller.call({ ref: 'wipe', arguments: { disk: 'D' }, caller: ann, timeoutMs: 1000 });
    const { id } = await findQuestion(opened);
    await expect.poll(() => Date.now() - (opened.approvals.get(id)?.createdAtMs ?? Date.now())).toBeGreaterThan(1200);
    opened.approvals.answer(id, 'approved', person);
    expect(await answer).toMatchObject({ output: 'wiped D' });
  });

  it('does not begin when its plugin stopped to serve in the meantime', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    const answer = call(opened, 'wipe', { disk: 'C' });
    const question = await findQuestion(opened);
    generations.clear();
    opened.approvals.answer(question.id, 'approved', person);
    expect(await answer).toMatchObject({ status: 'error', error: { code: 'plugin-not-ready' } });
  });

  it('is unknown to strangers, and names its question to who uses its key again', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    const stranger = { id: 'anonymous-1', role: 'caller', isAnonymous: true, tools: ['wipe'] } as const;
    await expect(opened.caller.call({ ref: 'wipe', arguments: {}, caller: stranger })).rejects.toMatchObject({
      code: 'tool-unknown',
    });
    const request = { ref: 'wipe', arguments: { disk: 'C' }, caller: ann, idempotencyKey: 'once' };
    const answer = opened.caller.call(request);
    const { id, executionId } = await findQuestion(opened);
    await expect(opened.caller.call(request)).rejects.toMatchObject({
      code: 'idempotency-in-progress',
      facts: { executionId, approval: id },
    });
    opened.approvals.answer(id, 'approved', person);
    expect(await answer).toMatchObject({ status: 'success' });
    expect(await opened.caller.call(request)).toMatchObject({ replayed: true, output: 'wiped C' });
  });

  it('leaves nothing behind when too many questions are open', async () => {
    const opened = await open();
    await publish(opened, 'wipe', wipes, dangerous);
    const waiting = Array.from({ length: 100 }, (_, disk) => call(opened, 'wipe', { disk }));
    const refused = opened.caller.call({ ref: 'wipe', arguments: {}, caller: ann, idempotencyKey: 'k' });
    await expect(refused).rejects.toMatchObject({ code: 'queue-full' });
    expect(opened.leases.open).toBe(100);
    for (const { id } of opened.approvals.list({ status: 'open', limit: 100 })) opened.approvals.answer(id, 'denied', person);
    expect((await Promise.all(waiting)).every(({ status }) => status === 'error')).toBe(true);
    const again = opened.caller.call({ ref: 'wipe', arguments: {}, caller: ann, idempotencyKey: 'k' });
    opened.approvals.answer((await findQuestion(opened)).id, 'denied', person);
    expect(await again).toMatchObject({ status: 'error' });
  });

  it('ends as interrupted in the next run where its record does not hold the secret of its arguments', async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-approvals-'));
    const redactor = createRedactor();
    redactor.learn('KEY', 's3cret-of-the-disk');
    const first = await open({ dataDir: folder, parts: { redactor } });
    await publish(first, 'wipe', wipes, dangerous);
    const refused = expect(call(first, 'wipe', { disk: 's3cret-of-the-disk' })).rejects.toMatchObject({ code: 'shutting-down' });
    const { id, executionId } = await findQuestion(first);
    await first.close();
    await refused;
    house = undefined;

    const second = await open({ dataDir: folder });
    second.caller.resume(true);
    expect(second.reader.get(executionId, ann)).toMatchObject({ status: 'error', error: { code: 'interrupted' } });
    expect(second.approvals.get(id)?.status).toBe('withdrawn');
    await second.store.committed();
    expect(second.store.parkedCalls.list()).toEqual([]);
  });
});

describe('a call that asks in the middle', () => {
  const asks = `{ handler: async (args, context) => {
    const noted = [];
    for (let round = 0; round < (args.rounds ?? 1); round++) noted.push(await context.confirm('Round ' + round + '?').catch((error) => error.code));
    if (args.further) noted.push(await context.kv.get('x'));
    return noted;
  } }`;

  it('gets the answer, and is kept before a person hears of the question', async () => {
    const opened = await open();
    await publish(opened, 'asks', asks);
    const answer = call(opened, 'asks', { rounds: 2 });
    for (const said of ['approved', 'denied'] as const) {
      const { id, executionId, question } = await findQuestion(opened);
      expect(question).toMatch(/^Round \d\?$/);
      expect(opened.store.parkedCalls.list().map((row) => row.executionId)).toEqual([executionId]);
      opened.approvals.answer(id, said, person);
      await expect.poll(() => opened.approvals.get(id)?.status).toBe(said);
    }
    expect(await answer).toMatchObject({ status: 'success', output: [true, false] });
    await opened.store.committed();
    expect(opened.store.parkedCalls.list()).toEqual([]);
  });

  it('is not kept any more as soon as something is done for it, so that nothing is done twice', async () => {
    const { promise: isDone, resolve: finish } = Promise.withResolvers<void>();
    const kept: number[] = [];
    const opened: CallingHouse = await openHouse({
      answer: async (request, user, signal) => {
        if (request.op === 'confirm') {
          const answered = await createQuestions(opened.approvals).operations.confirm?.(request, user, signal);
          return { ok: true, payload: JSON.stringify(answered?.payload) };
        }
        kept.push(opened.store.parkedCalls.list().length);
        await isDone;
        return { ok: true, payload: '"done"' };
      },
    });
    house = opened;
    await publish(opened, 'asks', asks);
    const answer = call(opened, 'asks', { further: true });
    opened.approvals.answer((await findQuestion(opened)).id, 'approved', person);
    await expect.poll(() => kept).toEqual([0]);
    finish();
    expect(await answer).toMatchObject({ output: [true, 'done'] });
  });

  it('is not kept with the memory from before something was done for it', async () => {
    const own = await startEngine();
    const isPictured = Promise.withResolvers<void>();
    const isDone = Promise.withResolvers<void>();
    /** How many calls were kept whenever another picture was taken. */
    const kept: number[] = [];
    const suspend = own.engine.suspend?.bind(own.engine);
    own.engine.suspend = async (id) => {
      kept.push(opened.store.parkedCalls.list().length);
      const blob = await suspend?.(id);
      isPictured.resolve();
      await isDone.promise;
      return blob;
    };
    const opened: CallingHouse = await openHouse({
      engine: own.engine,
      answer: async (request, user, signal) => {
        if (request.op === 'confirm') {
          const answered = await createQuestions(opened.approvals).operations.confirm?.(request, user, signal);
          return { ok: true, payload: JSON.stringify(answered?.payload) };
        }
        if (request.payload.includes('second')) isDone.resolve();
        else await isPictured.promise;
        return { ok: true, payload: '"done"' };
      },
    });
    house = opened;
    await publish(
      opened,
      'asks',
      `{ handler: async (args, context) => {
        const asked = context.confirm('Well?');
        await context.kv.get('first');
        await context.kv.get('second');
        return asked;
      } }`,
    );
    const answer = call(opened, 'asks');
    opened.approvals.answer((await findQuestion(opened)).id, 'approved', person);
    expect(await answer).toMatchObject({ output: true });
    expect(kept.slice(0, 2)).toEqual([0, 0]);
    await opened.close();
    await own.close();
    house = undefined;
  });

  it('may ask twenty questions and no more, nor one that is no text or too long', async () => {
    const opened = await open();
    await publish(
      opened,
      'pesters',
      `{ handler: async (args, context) => {
        const codes = [];
        for (const question of ['', 7, 'x'.repeat(3000)]) codes.push(await context.confirm(question).catch((error) => error.code));
        for (let round = 0; round < 21; round++) codes.push(await context.confirm('Now?').catch((error) => error.code));
        return codes;
      } }`,
    );
    const answer = call(opened, 'pesters');
    for (let round = 0; round < 20; round++) opened.approvals.answer((await findQuestion(opened)).id, 'denied', person);
    const invalid = ['arguments-invalid', 'arguments-invalid', 'arguments-invalid'];
    expect(await answer).toMatchObject({ output: [...invalid, ...Array.from({ length: 20 }, () => false), 'quota-exceeded'] });
  });

  it('is left to the next run when the daemon stops, as a call that has not begun is', async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-approvals-'));
    const first = await open({ dataDir: folder });
    await publish(first, 'asks', asks);
    await publish(first, 'wipe', wipes, dangerous);
    const calls = [call(first, 'asks', { further: true }), call(first, 'wipe', { disk: 'E' })];
    await expect.poll(() => first.approvals.list({ status: 'open', limit: 10 }).length).toBe(2);
    const refused = Promise.allSettled(calls);
    await first.close();
    for (const outcome of await refused) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'shutting-down' } });
    }

    const second = await open({ dataDir: folder });
    second.caller.resume(true);
    const questions = second.approvals.list({ status: 'open', limit: 10 });
    expect(questions).toHaveLength(2);
    for (const { id } of questions) second.approvals.answer(id, 'approved', person);
    const ends = await Promise.all(
      questions.map(async ({ executionId = '' }) => {
        await second.caller.ended(executionId, 10_000, new AbortController().signal);
        return second.reader.get(executionId, ann);
      }),
    );
    expect(ends.map(({ status, output }) => ({ status, output }))).toEqual(
      expect.arrayContaining([
        { status: 'success', output: [true, 'kv.get'] },
        { status: 'success', output: 'wiped E' },
      ]),
    );
  });
});
