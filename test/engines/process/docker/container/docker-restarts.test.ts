import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isDockerReady, openRunnerHouse, type RunnerHouse, testImages, text } from '../docker-machine.ts';
import { canStartDocker, type SecondDocker, startSecondDocker } from '../second-docker.ts';

describe.skipIf(!isDockerReady || !canStartDocker)('createCommandRunner, when Docker goes away', () => {
  let engine: SecondDocker;
  let house: RunnerHouse;
  beforeAll(async () => {
    engine = await startSecondDocker(testImages.box);
    house = openRunnerHouse({ socket: engine.socket });
  }, 60_000);
  afterAll(async () => {
    await house?.close();
    await engine?.close();
  }, 60_000);

  const startSleeper = async () => {
    const running = house.fail(house.run('sleep', ['100']));
    await house.runner.settled();
    await eventually(
      () => engine.docker.listContainers(),
      (found) => found.length >= 2,
    );
    // In an object: a function that is waited for would wait for its end too.
    return { running };
  };

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends the call in true words (%s), and removes what is left once it is back',
    async (signal) => {
      const { running } = await startSleeper();
      await engine.end(signal);
      if (signal === 'SIGKILL') await engine.start();
      const error = await running;
      expect(error.code).toBe('engine-failed');
      // Docker that stops in order kills first and goes then: both sentences are true.
      expect(error.message).toMatch(
        /^(?:Docker stopped or was restarted|The container was (?:ended|removed) from outside) while the command ran/,
      );
      if (signal === 'SIGTERM') {
        const refused = await house.fail(house.run('true', []));
        expect([refused.code, refused.message]).toEqual([
          'docker-missing',
          'Docker does not answer, and it is needed to start a container.',
        ]);
        await engine.start();
      }
      const next = await eventually(
        () => house.sh('echo again').then(({ stdout }) => text(stdout), String),
        (said) => said === 'again\n',
      );
      expect(next).toBe('again\n');
      await house.runner.settled();
      // What waits ready is ours; of what the restart left there is nothing after a while.
      const ready = await eventually(
        () => engine.docker.listContainers({ all: true }),
        (found) => found.length === 1 && found[0]?.State === 'running',
      );
      expect(ready.map(({ State }) => State)).toEqual(['running']);
    },
    60_000,
  );

  it('leaves nothing behind when it closes while Docker is away, once the next daemon starts', async () => {
    const { running } = await startSleeper();
    await engine.end('SIGKILL');
    await house.runner.close();
    await running;
    await engine.start();
    const next = openRunnerHouse({ socket: engine.socket }, house.dataDir);
    await next.runner.sweep();
    expect(await next.containers()).toEqual([]);
    await next.runner.close();
  }, 60_000);
});
