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
/** What the model says to results after the kill, by a word of theirs: the loops go on at the same time. */
const ends = { 'wiped C': 'Both done.', interrupted: 'It was cut off.', Rome: 'Seven.', 'wiped D': 'Wiped.' } as const;
const inRome = '{"city":"Rome","degrees":7,"runs":1}';
let model: Awaited<ReturnType<typeof startModel>>;
let folder: string;
let daemon: DaemonProcess | undefined;

beforeAll(async () => {
  model = await startModel();
  const plugins = { ...loopPlugins, 'rain.ts': loopPlugins['weather.ts'] };
  folder = makeDaemonFolder(plugins, { ...model.settings, grantRequested: true });
  await killInTheMiddle();
  model.always((request, response) => {
    const results = resultsOf(request).join('\n');
    const end = Object.entries(ends).find(([word]) => results.includes(word))?.[1] ?? 'nothing more';
    sendParts(response, [say(end)]);
  });
  daemon = await startDaemonProcess(folder);
}, 120_000);
afterAll(async () => {
  await daemon?.kill();
  await model.close();
  removeDaemonFolder(folder);
});

/** Begins four loops in one daemon and kills it when each is in the middle of something else. */
async function killInTheMiddle(): Promise<void> {
  const child = spawn(process.execPath, [program], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const closed = once(child, 'close');
  const begin = (line: string): void => void child.stdin.write(`${line}\n`);
  const sees = (line: string) => until(async () => output.includes(`${line}\n`), line);
  try {
    model.say([ask('weather', 'w1', { city: 'Oslo' }), ask('wiper', 'p1', { disk: 'C' })]);
    begin('asks weather wiper');
    await sees('asks call-end w1');
    await sees('asks call-waiting p1');
    model.say([ask('wiper', 'p1', { disk: 'D' })]);
    begin('stopped wiper');
    await sees('stopped call-waiting p1');
    model.say([ask('sleeper', 's1')]);
    begin('sleeps sleeper');
    await sees('sleeps call-start s1');
    let isAskedAgain = false;
    model.say([ask('rain', 'r1', { city: 'Rome' })]);
    model.next(() => {
      isAskedAgain = true;
    });
    begin('asked rain');
    await until(async () => isAskedAgain, 'the second round');
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

/** The daemon of the folder, by the command that people use. */
function running(): DaemonProcess {
  if (daemon === undefined) throw new Error('no daemon was started');
  return daemon;
}

const show = (id: string) => running().client.invoke(loopContracts.get, { id });
const follow = (id: string) => running().client.invoke(loopContracts.follow, { id });
const runsOf = async (tool: string) =>
  (await running().client.invoke(executionContracts.list, { tool, limit: 100 })).items.map(({ status }) => status);
/** What the model read, each time that it read this. */
const readOf = (word: keyof typeof ends) =>
  model.seen.map((request) => resultsOf(request)).filter((results) => results.some((text) => text.includes(word)));

/** Says yes to the question of a loop, once it is asked. */
async function approve(id: string): Promise<void> {
  let approval: string | undefined;
  await until(async () => {
    approval = (await show(id)).calls.find((call) => call.approval !== undefined)?.approval;
    return approval !== undefined;
  }, 'the question in the loop');
  await running().client.invoke(approvalContracts.answer, { id: approval ?? '', answer: 'approve', person: true });
}

describe('loops while the daemon is killed', { timeout: 120_000 }, () => {
  it('have the model read that a call was cut off, and do not make it again', async () => {
    expect(await follow('sleeps')).toMatchObject({ end: { reason: 'answered', text: ends.interrupted } });
    expect(readOf('interrupted').at(-1)).toEqual([expect.stringContaining('interrupted')]);
    // Killed within moments, it may have no record.
    expect((await runsOf('sleeper')).filter((status) => status !== 'error')).toEqual([]);
  });

  it('ask the model again that was asked just then, with the results that it had', async () => {
    expect(await follow('asked')).toMatchObject({ end: { reason: 'answered', text: ends.Rome }, rounds: 2 });
    expect([readOf('Rome').at(0), readOf('Rome').at(-1)]).toEqual([[inRome], [inRome]]);
    expect(readOf('Rome').length).toBeGreaterThan(1);
  });

  it('wait for the person again, have what their other calls answered, and run nothing twice', async () => {
    expect(await show('asks')).toMatchObject({ state: 'running', rounds: 1, purpose: 'chat' });
    await running().kill();
    daemon = await startDaemonProcess(folder);
    const { items } = await running().client.invoke(approvalContracts.list, {});
    expect(items.map(({ tool }) => tool)).toEqual(['wiper', 'wiper']);
    const followed = follow('asks');
    await approve('asks');
    expect(await followed).toMatchObject({ state: 'ended', rounds: 2, end: { reason: 'answered', text: ends['wiped C'] } });
    expect(readOf('wiped C')).toEqual([['{"city":"Oslo","degrees":7,"runs":1}', 'wiped C 1']]);
    expect(await runsOf('weather')).toEqual(['success']);
    expect((await runsOf('wiper')).filter((status) => status === 'success')).toEqual(['success']);
  });
});

describe('a loop while the daemon is asked to stop', { timeout: 120_000 }, () => {
  it('goes on with the next daemon', async () => {
    await until(async () => (await show('stopped')).calls.length === 1, 'the call of the loop');
    expect(await running().stop()).toBe(0);
    daemon = await startDaemonProcess(folder);
    await approve('stopped');
    expect(await follow('stopped')).toMatchObject({ end: { reason: 'answered', text: ends['wiped D'] } });
    expect(await runsOf('wiper')).toEqual(['success', 'success']);
  });

  it('keeps the ends for who asks later', async () => {
    const { items } = await running().client.invoke(loopContracts.list, {});
    const newest = ['asked', 'sleeps', 'stopped', 'asks'];
    expect(items.map(({ id, state }) => `${id} ${state}`)).toEqual(newest.map((id) => `${id} ended`));
  });
});
