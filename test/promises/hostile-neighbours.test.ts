import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';
import { attacks, listHostilePlugins } from './hostile-plugins.ts';
import { callNeighbour, describeLatency, waitUntilWithin } from './neighbour-load.ts';

/** Every attack takes 24 MiB or more: what stayed of them all would be several times this. */
const mayGrowMiB = 128;
const longestMessage = 5000;

let daemon: DaemonProcess;
let before = 0;
const idle: number[] = [];
const disturbed: number[] = [];

beforeAll(async () => {
  // All threads from the start on: what one more thread needs would look like memory that an attack kept.
  // Nor are the types that a repair would have loaded for a minute.
  const mode = { 'limit-reached': 'off', 'runtime-error': 'off' };
  const config = { grantRequested: true, workers: { min: 4, max: 4 }, repair: { mode } };
  daemon = await startDaemonProcess(makeDaemonFolder(listHostilePlugins(), config));
  const { items } = await daemon.client.invoke(pluginContracts.list, {});
  expect(items.filter(({ state }) => state !== 'ready')).toEqual([]);
  await callNeighbour(daemon, 200);
  idle.push(...(await callNeighbour(daemon, 200)).latenciesMs);
  // Every thread keeps the images of what it ran; that is no memory that an attack kept either.
  for (let round = 0; round < 8; round++) await Promise.all(attacks.map(({ name }) => daemon.call(name, { calm: true })));
  before = daemon.residentMiB();
}, 60_000);

afterAll(async () => {
  await daemon.stop();
  removeDaemonFolder(daemon.folder);
});

describe('a hostile plugin', () => {
  it.each(attacks)('$name ends within its limit and harms nobody', async ({ name, status, codes }) => {
    const attack = daemon.call(name);
    const during = await callNeighbour(daemon, 40);
    const answer = await attack;
    // An attack may end with its thread: then another one has to be there.
    const behind = await callNeighbour(daemon, 10);
    disturbed.push(...during.latenciesMs);
    expect([...during.failures, ...behind.failures]).toEqual([]);
    if (status !== undefined) expect(answer).toMatchObject({ status });
    if (answer.status !== 'success') expect(codes).toContain(answer.error?.code);
    expect((answer.error?.message ?? 'none').length).toBeLessThan(longestMessage);
    expect(answer.error?.message ?? 'none').not.toBe('');
  });

  it('all at once leave the neighbour unharmed', async () => {
    const all = Promise.all(attacks.map(({ name }) => daemon.call(name)));
    const { failures } = await callNeighbour(daemon, 200);
    const answers = await all;
    expect(failures).toEqual([]);
    const unexpected = answers.filter(({ error }, index) => error !== undefined && !attacks[index]?.codes.includes(error.code));
    // A call that waits for its turn among so many may run out of time before anything else of it does.
    expect(unexpected.filter(({ error }) => error?.code !== 'time-exceeded')).toEqual([]);
  });

  it('gives its memory back', async () => {
    const after = await waitUntilWithin(() => daemon.residentMiB(), before + mayGrowMiB, 15_000);
    process.stdout.write(
      `resident memory ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after; neighbour ${describeLatency(idle, disturbed)}\n`,
    );
    expect(after).toBeLessThanOrEqual(before + mayGrowMiB);
  });

  it('leaves a daemon that logged no fault', () => {
    expect(daemon.output()).not.toMatch(/"level":50|fault in the daemon/);
  });
});
