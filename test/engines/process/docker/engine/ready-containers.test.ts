import { afterEach, expect, it } from 'vitest';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker, eventually } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

let rig: DockerRig;
afterEach(() => rig.close());

const plugin = handlerOf(
  "const { readFileSync } = await import('node:fs'); return /containers\\/([0-9a-f]{64})/.exec(readFileSync('/proc/self/mountinfo', 'utf8'))[1]",
);

describeDocker('containers that are ready before a call', () => {
  it('serve the first call of any plugin once the engine is warm', async () => {
    // No bare containers beside it: what there is, is the engine's.
    rig = createDockerRig({ warm: { perImage: 0, total: 1, idleMs: 60_000 } });
    rig.engine.warm?.();
    const [ready] = await eventually(
      () => rig.house.containers(),
      (ids) => ids.length === 1,
    );
    expect(await rig.run(plugin)).toMatchObject({ output: ready });
  });

  it('hold the plugin after its first call, one for each call', async () => {
    rig = createDockerRig();
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      const outcome = await rig.run(plugin);
      ids.push(outcome.status === 'success' && outcome.output);
    }
    expect(new Set(ids).size).toBe(3);
  });

  it('are ended when nobody calls for a while', async () => {
    rig = createDockerRig({ warm: { perImage: 1, total: 2, idleMs: 1000 } });
    await rig.run(plugin);
    expect(
      await eventually(
        () => rig.house.containers(),
        (ids) => ids.length === 0,
      ),
    ).toEqual([]);
    expect(await rig.run(plugin)).toMatchObject({ status: 'success' });
  });

  it('are none where the config wants none', async () => {
    rig = createDockerRig({ warm: { perImage: 0, total: 0, idleMs: 60_000 } });
    rig.engine.warm?.();
    await rig.run(plugin);
    expect(
      await eventually(
        () => rig.house.containers(),
        (ids) => ids.length === 0,
      ),
    ).toEqual([]);
  });

  it('are not made without an image', async () => {
    rig = createDockerRig({ pluginImage: '' });
    rig.engine.warm?.();
    expect(rig.house.faults).toEqual([]);
  });
});
