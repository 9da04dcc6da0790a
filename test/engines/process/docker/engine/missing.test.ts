import { afterEach, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../../src/config/limits.ts';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker, testImages } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

let rig: DockerRig;
afterEach(() => rig.close());

const plugin = handlerOf('return 1');
const load = () => rig.engine.load({ key: 'a', label: 'a.ts', code: `export default ${plugin};`, limits: resolveLimits() });

/** Both ways in end the same. */
async function expectRefusal(code: string, words: RegExp): Promise<void> {
  await expect(load()).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
  expect(await rig.run(plugin)).toMatchObject({ status: 'error', error: { code, message: expect.stringMatching(words) } });
}

describe('createDockerEngine without what it needs', () => {
  it('says which setting names the image when none does', async () => {
    rig = createDockerRig({ pluginImage: '' });
    await expectRefusal('image-missing', /needs an image with Node/);
    await expect(load()).rejects.toMatchObject({ fix: expect.stringContaining('docker.pluginImage') });
  });

  it('says that Docker does not answer', async () => {
    rig = createDockerRig({ socket: '/nowhere/docker.sock' });
    await expectRefusal('docker-missing', /Docker does not answer/);
  });
});

describeDocker('createDockerEngine without what it needs of Docker', () => {
  it('says that the image is not there', async () => {
    rig = createDockerRig({ pluginImage: 'hotcell-test/nowhere:1' });
    await expectRefusal('image-missing', /hotcell-test\/nowhere:1 is not on this machine/);
  });

  it('says that the image has no Node, and leaves nothing behind', async () => {
    rig = createDockerRig({ pluginImage: testImages.box });
    await expectRefusal('engine-failed', /The image hotcell-test\/box:2 has no program "node"/);
    await rig.engine.close();
    await rig.house.runner.close();
    expect(await rig.house.containers()).toEqual([]);
  });

  it('lists the image among those that are needed', async () => {
    rig = createDockerRig();
    expect(await rig.house.runner.images.list()).toMatchObject([{ name: testImages.node, status: 'present' }]);
  });
});
