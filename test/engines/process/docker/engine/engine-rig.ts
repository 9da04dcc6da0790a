import type { DockerSettings } from '../../../../../src/config/config-types.ts';
import { defaultSettings } from '../../../../../src/config/schema.ts';
import type { Engine } from '../../../../../src/engines/engine.ts';
import { createDockerEngine } from '../../../../../src/engines/process/docker/engine/docker-engine.ts';
import { giveWarmCache } from '../../../../data-dir.ts';
import { createTrier, type DenoRig } from '../../deno/deno-rig.ts';
import { openRunnerHouse, type RunnerHouse, testImages } from '../docker-machine.ts';

/** An engine in a house of its own. */
export interface DockerRig {
  readonly engine: Engine;
  readonly house: RunnerHouse;
  readonly run: DenoRig['run'];
  close(): Promise<void>;
}

/** What keeps a container ready for the next call, as a daemon does by default; without it a rig starts none that nobody asks for. */
export const keepsReady = defaultSettings.docker.warm;
const keepsNone = { perImage: 0, total: 0, idleMs: keepsReady.idleMs };

/** Opens one, with Node of the image of the tests. */
export function createDockerRig(chosen: Partial<DockerSettings> = {}): DockerRig {
  const own = { images: [], pluginImage: testImages.node, warm: keepsNone, ...chosen };
  const settings = { ...defaultSettings.docker, ...own };
  const house = openRunnerHouse(own);
  giveWarmCache(house.dataDir);
  const engine = createDockerEngine({ dataDir: house.dataDir, settings, commands: house.runner });
  return {
    engine,
    house,
    run: createTrier(engine),
    async close() {
      await engine.close();
      await house.close();
    },
  };
}
