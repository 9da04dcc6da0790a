import type Docker from 'dockerode';
import { expect, it } from 'vitest';
import { ownerLabel } from '../../../../../src/engines/process/docker/container/container-flags.ts';
import { nameContainer, nameOwner, sweepContainers } from '../../../../../src/engines/process/docker/container/containers.ts';
import { createDockerClient } from '../../../../../src/engines/process/docker/docker-client.ts';
import { describeDocker, testImages } from '../docker-machine.ts';

describeDocker('sweepContainers', () => {
  const make = async (docker: Docker, name: string, labels: Record<string, string>): Promise<string> =>
    (await docker.createContainer({ name, Image: testImages.box, Cmd: ['true'], Labels: labels, NetworkDisabled: true })).id;
  const isThere = (docker: Docker, id: string) =>
    docker
      .getContainer(id)
      .inspect()
      .then(
        () => true,
        () => false,
      );

  it('removes what is its own and in nobody’s hands, and leaves everybody else’s', async () => {
    const docker = await createDockerClient({ socket: '', env: {} })();
    const owner = nameOwner(`/mine/${process.pid}`);
    const [own, used, other] = [nameContainer(owner), nameContainer(owner), nameContainer(nameOwner('/other'))];
    const plain = `hotcell-test-sweep-${process.pid}`;
    const ids = [
      await make(docker, own, { [ownerLabel]: owner }),
      await make(docker, used, { [ownerLabel]: owner }),
      await make(docker, other, { [ownerLabel]: nameOwner('/other') }),
      await make(docker, plain, {}),
      // As somebody's own container of an image that has the label.
      await make(docker, `${plain}-database`, { [ownerLabel]: owner }),
    ];
    try {
      expect(await sweepContainers(docker, owner, (name) => name === used)).toBeGreaterThanOrEqual(1);
      expect(await Promise.all(ids.map((id) => isThere(docker, id)))).toEqual([false, true, true, true, true]);
    } finally {
      for (const id of ids)
        await docker
          .getContainer(id)
          .remove({ force: true })
          .catch(() => undefined);
    }
  });
});
