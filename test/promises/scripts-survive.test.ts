import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const plugins = {
  'wipe.ts': `export default { description: 'Wipes.', isDangerous: true, handler: (args: { disk: string }) => 'wiped ' + args.disk };`,
  'sure.ts': `export default { description: 'Asks.', handler: async (args: { what: string }, context) => {
    const before = Math.random(); const yes = await context.confirm('Really ' + args.what + '?');
    return args.what + ' ' + yes + ' ' + (before > 0); } };`,
  'count.ts': `export default { description: 'Counts.', handler: async (args: {}, context) => {
    const count = ((await context.kv.get('count')) ?? 0) + 1; await context.kv.set('count', count); return count; } };`,
  'through.ts': `export default { description: 'Calls another.', permissions: { tools: ['*'] },
    handler: async (args: { name: string, args: any }, context) => 'through ' + (await context.tools.call(args.name, args.args)) };`,
};
const config = { grantRequested: true, builtins: { codeForAdmins: true } };

/** Counted so far: by one daemon after the other, over the same folder. */
let counted = 0;

/** Calls in the middle, with state in local variables alone, before, beside and after what a person is asked. */
const script = `const secret = Math.random();
const first = await tools.count();
const wipe = async () => { const told = await tools.wipe({ disk: 'C' }); console.log('it is wiped'); return told; };
const both = await Promise.all([wipe(), tools.through({ name: 'sure', args: { what: 'delete' } })]);
return { first, both, last: await tools.count(), same: secret === secret, kind: typeof secret };`;

let folder: string;
let daemon: DaemonProcess;
/** One that is asked to stop hands on the same: the long run does both. */
const ends = process.env.HOTCELL_LONG === undefined ? (['kill'] as const) : (['kill', 'stop'] as const);

beforeAll(async () => {
  folder = makeDaemonFolder(plugins, config);
  daemon = await startDaemonProcess(folder);
}, 120_000);
afterAll(async () => {
  await daemon?.kill();
  removeDaemonFolder(folder);
});

/** What the daemon could go on with, were it killed now, a text for each call: a copy of its database says so, if it is whole. */
function readKept(): string[] | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'hotcell-copy-'));
  try {
    for (const name of ['hotcell.db', 'hotcell.db-wal']) {
      const file = join(folder, '.hotcell', name);
      if (existsSync(file)) copyFileSync(file, join(copy, name));
    }
    const database = new DatabaseSync(join(copy, 'hotcell.db'));
    const rows = database.prepare('SELECT facts FROM parked_calls').all();
    database.close();
    return rows.map(({ facts }) => String(facts));
  } catch {
    return undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const countKept = (): number => readKept()?.length ?? Number.NaN;

async function listQuestions() {
  return (await daemon.client.invoke(approvalContracts.list, {})).items;
}

/** Runs the script until both questions are open and all four calls are kept: itself, the two that ask, and the one between. */
async function askBoth(): Promise<string> {
  daemon.call('run_code', { code: script }).catch(() => {});
  await until(async () => (await listQuestions()).length === 2, 'two questions');
  await until(() => countKept() === 4, 'four kept calls');
  const { items } = await daemon.client.invoke(executionContracts.list, { tool: 'run_code' });
  return items[0]?.id ?? '';
}

async function answer(tool: string, decision: 'approve' | 'deny' = 'approve'): Promise<void> {
  const question = (await listQuestions()).find((each) => each.tool === tool);
  await daemon.client.invoke(approvalContracts.answer, { id: question?.id ?? '', answer: decision, person: true });
}

async function restart(end: 'kill' | 'stop', meanwhile = () => {}): Promise<void> {
  await daemon[end]();
  meanwhile();
  daemon = await startDaemonProcess(folder);
}

const waitForEnd = (id: string) => daemon.client.invoke(executionContracts.get, { id, waitMs: 20_000 });

describe('a script in which tools ask a person', () => {
  it.each(ends)(
    'goes on where it was, with the calls in it, after a %s of the daemon',
    async (end) => {
      const id = await askBoth();
      await restart(end);
      await answer('wipe');
      const hasHeard = () => readKept()?.some((facts) => facts.includes('it is wiped')) === true;
      await until(() => countKept() === 3 && hasHeard(), 'the script as it is after one of the answers');
      await restart(end);
      await answer('sure');
      expect(await waitForEnd(id)).toMatchObject({ status: 'success' });
      const { items } = await daemon.client.invoke(executionContracts.list, { parent: id });
      expect(items.map(({ tool, status }) => `${tool} ${status}`).sort()).toEqual([
        'count success',
        'count success',
        'through success',
        'wipe success',
      ]);
      expect((await waitForEnd(id)).output).toEqual({
        first: ++counted,
        both: ['wiped C', 'through delete true true'],
        last: ++counted,
        same: true,
        kind: 'number',
      });
      expect(countKept()).toBe(0);
    },
    120_000,
  );

  it('ends with all that it called when it is cancelled after a restart', async () => {
    const id = await askBoth();
    await restart('kill');
    await daemon.client.invoke(executionContracts.cancel, { id });
    expect(await waitForEnd(id)).toMatchObject({ status: 'cancelled' });
    await until(async () => (await listQuestions()).length === 0 && countKept() === 0, 'nothing that is left');
    const { items } = await daemon.client.invoke(executionContracts.list, { parent: id });
    expect(items.map(({ tool, status }) => `${tool} ${status}`).sort()).toEqual([
      'count success',
      'through cancelled',
      'wipe cancelled',
    ]);
  }, 120_000);

  it('hears of a refusal after a restart, and of a tool that is gone', async () => {
    daemon
      .call('run_code', {
        code: `const told: string[] = [];
for (const run of [() => tools.wipe({ disk: 'C' }), () => tools.sure({ what: 'go' })]) { try { await run(); } catch (error) { told.push(error.code); } }
return told;`,
      })
      .catch(() => {});
    await until(async () => (await listQuestions()).length === 1, 'a question');
    await until(() => countKept() === 2, 'two kept calls');
    const { items } = await daemon.client.invoke(executionContracts.list, { tool: 'run_code' });
    const id = items[0]?.id ?? '';
    await restart('kill');
    await answer('wipe', 'deny');
    await until(async () => (await listQuestions()).some(({ tool }) => tool === 'sure'), 'the next question');
    await until(() => countKept() === 2, 'two kept calls again');
    await restart('kill', () => rmSync(join(folder, 'plugins', 'sure.ts')));
    expect(await waitForEnd(id)).toMatchObject({ status: 'success', output: ['approval-denied', 'interrupted'] });
    expect(await listQuestions()).toEqual([]);
    expect(countKept()).toBe(0);
  }, 120_000);
});
