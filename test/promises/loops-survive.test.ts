import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { loopContracts } from '../../src/operations/contracts/loops.ts';
import { ask, loopPlugins, resultsOf, say, sendParts, startModel } from '../loop/rig.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const program = fileURLToPath(new URL('../loop/loop-process.ts', import.meta.url));
let model: Awaited<ReturnType<typeof startModel>>;
let folder: string;
let daemon: DaemonProcess | undefined;

beforeAll(async () => {
  model = await startModel();
  folder = makeDaemonFolder(loopPlugins, { ...model.settings, grantRequested: true });
});
afterAll(async () => {
  await daemon?.kill();
  await model.close();
  removeDaemonFolder(folder);
});

/** Begins a loop in a daemon of its own; `when` resolves at the moment at which it is killed. */
async function killInTheMiddle(
  id: string,
  tools: readonly string[],
  when: (output: () => string) => Promise<unknown>,
): Promise<void> {
  await daemon?.kill();
  const child = spawn(process.execPath, [program, id, ...tools], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const closed = once(child, 'close');
  try {
    await when(() => output);
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

/** The daemon of the same folder, by the command that people use. */
async function startAgain(): Promise<DaemonProcess> {
  daemon = await startDaemonProcess(folder);
  return daemon;
}

const follow = ({ client }: DaemonProcess, id: string) => client.invoke(loopContracts.follow, { id });
const runsOf = async ({ client }: DaemonProcess, tool: string) =>
  (await client.invoke(executionContracts.list, { tool, limit: 100 })).items.map(({ status }) => status);
const sees = (line: string) => (output: () => string) => until(async () => output().includes(line), line);

describe('a loop while the daemon is killed', { timeout: 120_000 }, () => {
  it('waits for the person again, has what its other calls answered, and runs nothing twice', async () => {
    model.say([ask('weather', 'w1', { city: 'Oslo' }), ask('wiper', 'p1', { disk: 'C' })]);
    await killInTheMiddle('asks', ['weather', 'wiper'], async (output) => {
      await sees('call-end w1')(output);
      await sees('call-waiting p1')(output);
    });
    const again = await startAgain();
    const waiting = await again.client.invoke(loopContracts.get, { id: 'asks' });
    expect(waiting).toMatchObject({ state: 'running', rounds: 1, purpose: 'chat' });
    await again.kill();
    const third = await startAgain();
    const { items } = await third.client.invoke(approvalContracts.list, {});
    expect(items.map(({ tool }) => tool)).toEqual(['wiper']);
    await until(
      async () =>
        (await third.client.invoke(loopContracts.get, { id: 'asks' })).calls.some(({ approval }) => approval === items[0]?.id),
      'the question in the loop',
    );
    const followed = follow(third, 'asks');
    model.say([say('Both done.')]);
    await third.client.invoke(approvalContracts.answer, { id: items[0]?.id ?? '', answer: 'approve', person: true });
    expect(await followed).toMatchObject({ state: 'ended', rounds: 2, end: { reason: 'answered', text: 'Both done.' } });
    expect(model.lastResults()).toEqual(['{"city":"Oslo","degrees":7,"runs":1}', 'wiped C 1']);
    expect([await runsOf(third, 'weather'), await runsOf(third, 'wiper')]).toEqual([['success'], ['success']]);
  });

  it('has the model read that a call was cut off, and does not make it again', async () => {
    model.say([ask('sleeper', 's1')]);
    await killInTheMiddle('sleeps', ['sleeper'], sees('call-start s1'));
    model.say([say('It was cut off.')]);
    const again = await startAgain();
    expect(await follow(again, 'sleeps')).toMatchObject({ end: { reason: 'answered', text: 'It was cut off.' } });
    expect(model.lastResults()).toEqual([expect.stringContaining('interrupted')]);
    // Killed within moments, it may have no record.
    expect((await runsOf(again, 'sleeper')).filter((status) => status !== 'error')).toEqual([]);
  });

  it('asks the model again that was asked just then, with the results that it had', async () => {
    let isAskedAgain = false;
    model.say([ask('weather', 'w1', { city: 'Rome' })]);
    model.next(() => {
      isAskedAgain = true;
    });
    await killInTheMiddle('asked', ['weather'], () => until(async () => isAskedAgain, 'the second round'));
    const before = resultsOf(model.seen.at(-1));
    model.say([say('Seven.')]);
    const again = await startAgain();
    expect(await follow(again, 'asked')).toMatchObject({ end: { reason: 'answered', text: 'Seven.' }, rounds: 2 });
    expect([before, model.lastResults()]).toEqual([['{"city":"Rome","degrees":7,"runs":1}'], before]);
  });

  it('keeps the ends for who asks later', async () => {
    const again = daemon ?? (await startAgain());
    const { items } = await again.client.invoke(loopContracts.list, {});
    expect(items.map(({ id, state }) => `${id} ${state}`)).toEqual(['asked ended', 'sleeps ended', 'asks ended']);
  });
});

describe('a loop while the daemon is asked to stop', { timeout: 120_000 }, () => {
  it('goes on with the next daemon', async () => {
    model.say([ask('wiper', 'p1', { disk: 'D' })]);
    await killInTheMiddle('stopped', ['wiper'], sees('call-waiting p1'));
    const again = await startAgain();
    await until(
      async () => (await again.client.invoke(loopContracts.get, { id: 'stopped' })).calls.length === 1,
      'the call of the loop',
    );
    expect(await again.stop()).toBe(0);
    const third = await startAgain();
    const { items } = await third.client.invoke(approvalContracts.list, {});
    model.next((_request, response) => sendParts(response, [say('Wiped.')]));
    await third.client.invoke(approvalContracts.answer, { id: items[0]?.id ?? '', answer: 'approve', person: true });
    expect(await follow(third, 'stopped')).toMatchObject({ end: { reason: 'answered', text: 'Wiped.' } });
    expect(await runsOf(third, 'wiper')).toEqual(['success', 'success']);
  });
});
