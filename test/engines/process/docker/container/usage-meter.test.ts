import { afterAll, beforeAll, expect, it } from 'vitest';
import { openUsageMeter } from '../../../../../src/engines/process/docker/container/usage-meter.ts';
import { describeDocker, eventually, openRunnerHouse, type RunnerHouse, testImages } from '../docker-machine.ts';

describeDocker('openUsageMeter', () => {
  let house: RunnerHouse;
  let id: string;
  let running: Promise<unknown>;
  beforeAll(async () => {
    house = openRunnerHouse({ warm: { perImage: 0, total: 0, idleMs: 60_000 } });
    const script = 'dd if=/dev/zero of=/tmp/x bs=1M count=20 2>/dev/null; while :; do :; done';
    running = house.sh(script, { image: testImages.box }).catch(() => undefined);
    [id = ''] = await eventually(
      () => house.containers(),
      (ids) => ids.length > 0,
    );
    await eventually(
      () => house.docker.getContainer(id).inspect(),
      ({ State }) => State.Running,
    );
  });
  afterAll(async () => {
    await house.close();
    await running;
  });

  const container = () => house.docker.getContainer(id);

  it('tells what all processes of a container used', async () => {
    const read = await openUsageMeter(container());
    const usage = await eventually(
      async () => read(),
      (now) => (now?.cpuMs ?? 0) > 100 && (now?.rssBytes ?? 0) > 20_000_000,
    );
    expect(usage?.cpuMs).toBeGreaterThan(100);
    expect(usage?.rssBytes).toBeGreaterThan(20_000_000);
  });

  it('asks Docker where the number of the process means another one here', async () => {
    const real = container();
    const facts = await real.inspect();
    // As on a machine where Docker runs in another namespace: the number is that of this test.
    const elsewhere = Object.assign(house.docker.getContainer(id), {
      inspect: async () => ({ ...facts, State: { ...facts.State, Pid: process.pid } }),
    });
    const read = await openUsageMeter(elsewhere);
    expect(read()).toBeUndefined();
    const usage = await eventually(
      async () => read(),
      (now) => now !== undefined,
    );
    expect(usage?.cpuMs).toBeGreaterThan(0);
  });

  it('tells nothing of a container that is gone', async () => {
    const read = await openUsageMeter(container());
    await house.runner.killAll();
    await eventually(
      async () => read(),
      (now) => now === undefined,
    );
    expect(read()).toBeUndefined();
  });
});
