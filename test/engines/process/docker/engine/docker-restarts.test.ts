import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handlerOf } from '../../deno/deno-rig.ts';
import { eventually, isDockerReady, testImages } from '../docker-machine.ts';
import { canStartDocker, type SecondDocker, startSecondDocker } from '../second-docker.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

const waits = handlerOf("await context.kv.get('a')");

describe.skipIf(!isDockerReady || !canStartDocker)('createDockerEngine, when Docker goes away', () => {
  let second: SecondDocker;
  let rig: DockerRig;
  beforeAll(async () => {
    second = await startSecondDocker(testImages.node);
    rig = createDockerRig({ socket: second.socket });
  }, 60_000);
  afterAll(async () => {
    await rig?.close();
    await second?.close();
  }, 60_000);

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends the call in true words (%s), says that Docker is missing, and goes on once it is back',
    async (signal) => {
      const asked = Promise.withResolvers<void>();
      const running = rig.run(waits, {
        answer: () => {
          asked.resolve();
          return new Promise<never>(() => undefined);
        },
      });
      await asked.promise;
      await second.end(signal);
      expect(await running).toMatchObject({
        status: 'error',
        error: {
          code: 'engine-failed',
          message: expect.stringMatching(/^(?:Docker stopped|The container was (?:ended|removed) from outside)/),
        },
      });
      expect(await rig.run(handlerOf('return 1'))).toMatchObject({ error: { code: 'docker-missing' } });
      await second.start();
      const next = await eventually(
        () => rig.run(handlerOf("return 'again'")),
        ({ status }) => status === 'success',
      );
      expect(next).toMatchObject({ output: 'again' });
    },
    60_000,
  );

  it('leaves nothing behind of what ran while Docker went away', async () => {
    await rig.engine.close();
    await rig.house.runner.close();
    const left = await eventually(
      () => second.docker.listContainers({ all: true }),
      (found) => found.length === 0,
    );
    expect(left.map(({ Names, State }) => [Names, State])).toEqual([]);
  }, 60_000);
});
