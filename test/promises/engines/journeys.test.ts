import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../../src/operations/contracts/access/approvals.ts';
import { auditContracts } from '../../../src/operations/contracts/access/audit.ts';
import { grantContracts } from '../../../src/operations/contracts/access/grants.ts';
import { executionContracts } from '../../../src/operations/contracts/executions.ts';
import { startWebServer, type WebServer } from '../../capabilities/network/web-server.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { engineSubjects, presentSubjects, type Step, type Subject } from './subjects.ts';

const subjects = presentSubjects(engineSubjects);
const scripts = subjects.filter(({ title }) => !title.startsWith('extism'));
let world: EngineHouse;
let server: WebServer;
let onRequest: () => Promise<void> = async () => {};

beforeAll(async () => {
  server = await startWebServer((_request, response) => void onRequest().then(() => response.end('hello')));
  world = await openEngineHouse({ subjects, config: { tools: { maxDepth: 8 }, files: { maxFileBytes: 4_000_000 } } });
}, 60_000);
afterAll(async () => {
  await world.close();
  await server[Symbol.asyncDispose]();
});

const grant = (plugin: string, permissions: Record<string, unknown>) =>
  world.house.client.invoke(grantContracts.create, { plugin, permissions });
const revoke = (plugin: string, permissions?: string[]) =>
  world.house.client.invoke(grantContracts.revoke, { plugin, ...(permissions ? { permissions } : {}) });
const audit = (plugin: string, allowed: boolean) =>
  world.house.client.invoke(auditContracts.list, { plugin, allowed, limit: 100 });
const fetchHello = (): Step => ({ op: 'fetch', payload: { url: `http://127.0.0.1:${server.port}/` } });

describe.each(subjects.map((subject) => [subject.title, subject] as const))('a call on %s', (_title, subject) => {
  const { plugin } = subject;

  it('asks a person, and goes on with the answer', async () => {
    for (const answer of ['approve', 'deny'] as const) {
      const question = `Shall ${plugin} ${answer}?`;
      const asked = world.house.event('approval-request', ({ data }) => data.question.includes(question));
      const running = world.tryAs(subject, {}, [{ op: 'confirm', payload: { question } }]);
      const { data } = Object(await asked);
      await world.house.client.invoke(approvalContracts.answer, { id: data.approval, answer, person: true });
      expect(await running).toEqual([{ ok: true, value: answer === 'approve' }]);
    }
  });

  it('loses a grant in the middle, at the next use', async () => {
    // While the server holds its answer back, the operator takes the grant away.
    onRequest = async () => {
      onRequest = async () => {};
      await revoke(plugin);
    };
    const [during] = await world.tryAs(subject, { net: ['127.0.0.1'] }, [fetchHello()]);
    expect(during).toMatchObject({ ok: true });
    const seen = server.seen.length;
    const [after] = await subject.ask(world.house.call, [fetchHello()]);
    expect([after, server.seen.length]).toMatchObject([{ ok: false, code: 'permission-denied' }, seen]);
  });

  it('is audited: what it used and what it was refused', async () => {
    await world.tryAs(subject, { kv: true, net: ['127.0.0.1'] }, [
      { op: 'kv.set', payload: { key: 'a', value: 1 } },
      { op: 'files.read', payload: { path: 'private.txt' } },
      fetchHello(),
    ]);
    const [used, refused] = await Promise.all([audit(plugin, true), audit(plugin, false)]);
    expect(used.items.map(({ permission }) => permission)).toEqual(expect.arrayContaining(['kv', 'net']));
    expect(refused.items.map(({ permission, detail }) => `${permission} ${detail}`)).toContain('read private.txt');
  });
});

describe.each(scripts.map((subject) => [subject.title, subject] as const))('a call of a script on %s', (_title, subject) => {
  it('loses a grant between two uses', async () => {
    onRequest = async () => {
      onRequest = async () => {};
      await revoke(subject.plugin, ['kv']);
    };
    const set = (key: string): Step => ({ op: 'kv.set', payload: { key, value: 1 } });
    const answers = await world.tryAs(subject, { kv: true, net: ['127.0.0.1'] }, [set('a'), fetchHello(), set('b')]);
    expect(answers).toMatchObject([{ ok: true }, { ok: true }, { ok: false, code: 'permission-denied' }]);
  });

  it('brings files of megabytes over the border whole', async () => {
    const size = 3_000_000;
    const steps: Step[] = [
      { op: 'bulk.write', payload: { path: 'bulk.bin', size } },
      { op: 'bulk.read', payload: { path: 'bulk.bin' } },
    ];
    const answers = await world.tryAs(subject, { read: ['.'], write: ['.'] }, steps);
    expect(answers).toMatchObject([{ ok: true }, { ok: true, value: { size, sum: expect.any(Number) } }]);
    expect(Object(answers[1]).value.sum).toBe(bulkSum(size));
  }, 120_000);
});

describe('tools that call tools of other engines', () => {
  const callOf = ({ plugin, title }: Subject, step: Step): Step =>
    title.startsWith('extism')
      ? { op: 'tools.call', payload: { name: `${plugin}_ask`, arguments: { op: step.op, payload: step.payload ?? {} } } }
      : { op: 'tools.call', payload: { name: plugin, arguments: { steps: [step] } } };

  it('go through all of them, each under its own grants', async () => {
    for (const { plugin } of subjects) await revoke(plugin);
    for (const { plugin } of subjects) await grant(plugin, { tools: ['probe_*'] });
    const [first, ...others] = subjects;
    const [last] = others.slice(-1);
    if (!first || !last) throw new Error('There are no engines.');
    const innermost: Step = { op: 'kv.set', payload: { key: 'deep', value: 1 } };
    const chain = others.toReversed().reduce((step, subject) => callOf(subject, step), innermost);
    expect(JSON.stringify(await first.ask(world.house.call, [chain]))).toContain('permission-denied');
    await grant(last.plugin, { kv: true });
    const answered = JSON.stringify(await first.ask(world.house.call, [chain]));
    expect(answered).not.toContain('permission-denied');
    expect(answered.match(/"ok":true/g)?.length).toBe(subjects.length);
    const { items } = await world.house.client.invoke(executionContracts.list, { limit: subjects.length });
    expect(items.filter(({ parent }) => parent !== undefined)).toHaveLength(subjects.length - 1);
  });

  it('do not run in a circle', async () => {
    const [first, ...others] = subjects;
    if (!first) throw new Error('There are no engines.');
    const again = callOf(first, { op: 'env.get', payload: { name: 'X' } });
    const chain = others.toReversed().reduce((step, subject) => callOf(subject, step), again);
    expect(JSON.stringify(await first.ask(world.house.call, [chain]))).toContain('call-cycle');
  });
});

function bulkSum(size: number): number {
  let sum = 0;
  for (let index = 0; index < size; index++) sum = (sum + ((index * 31) & 255)) % 1_000_003;
  return sum;
}
