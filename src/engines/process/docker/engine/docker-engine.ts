import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DockerSettings } from '../../../../config/config-types.ts';
import { sharePlaces } from '../../../../config/quotas/quota.ts';
import { quotas } from '../../../../config/quotas.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { provideGuestRunner } from '../../../../guests/runner.ts';
import type { Engine, ScriptTraits } from '../../../engine.ts';
import { GuestEngine } from '../../guest-engine.ts';
import type { GuestProcess } from '../../guest-process.ts';
import type { CommandRunner } from '../command/command-runner.ts';
import { createDockerClient, describeDockerError } from '../docker-client.ts';
import { startGuestContainer } from './guest-container.ts';

/** What the engine works with. */
export interface DockerEngineParts {
  readonly dataDir: string;
  readonly settings: DockerSettings;
  /** Starts containers; it must be closed after the engine. */
  readonly commands: Pick<CommandRunner, 'hold'>;
  /** Containers kept for a session or a plugin, and containers that wait for the next call with their plugin; at most. */
  readonly maxKept?: number;
  readonly maxReady?: number;
}

/** What containers are for a plugin that may move to them. */
export const dockerTraits: ScriptTraits = {
  carries: ['builtin', 'global', 'processes', 'native-addon'],
  brings: 'a container with the programs and packages of its image, network only through the daemon',
  compiles: true,
};

/** A socket that takes the question and never answers is no engine. */
const answerMs = 3_000;
const MIB = 1024 * 1024;
/** What Node needs beside its heap. */
const spareMb = 96;
const leastHeapMb = 32;

/**
 * Makes the engine that runs plugins with Node in hardened containers, one container a cell. Nothing of this machine is in
 * them; what a plugin asks of the daemon goes over the standard streams of its container.
 */
export function createDockerEngine(parts: DockerEngineParts): Engine {
  const { settings, maxKept, maxReady } = parts;
  const { total, idleMs } = settings.warm;
  const closing = new AbortController();
  const startContainer = createStarter(parts, closing.signal);
  let idle: NodeJS.Timeout | undefined;
  /** One container in which Node runs and nothing else yet: whichever plugin comes next need not wait for it. */
  let spare: Promise<GuestProcess | undefined> | undefined;

  /** Containers that wait for a call cost memory: a while after the last one was started there are none. */
  const start = async (): Promise<GuestProcess> => {
    const container = await startContainer();
    clearTimeout(idle);
    if (closing.signal.aborted) return container;
    idle = setTimeout(() => {
      engine.dropReady();
      void dropSpare();
    }, idleMs).unref();
    return container;
  };
  const prepareSpare = (): void => {
    // One that could not be started is tried again by whoever needs it, and hears why.
    if (total > 0 && !closing.signal.aborted) spare ??= start().catch(() => undefined);
  };
  const takeSpare = async (): Promise<GuestProcess> => {
    const taken = spare;
    spare = undefined;
    const ready = await taken;
    const container = ready?.isAlive() ? ready : await start();
    prepareSpare();
    return container;
  };
  const dropSpare = async (): Promise<void> => {
    const dropped = spare;
    spare = undefined;
    const container = await dropped;
    container?.kill();
    await container?.exited;
  };

  const engine = new GuestEngine<GuestProcess, undefined>({
    name: 'docker',
    script: dockerTraits,
    findMissing: () => findMissingDocker(settings),
    places: sharePlaces(settings.maxRunning),
    aside: quotas['docker.aside'],
    maxKept: maxKept ?? quotas['cells.kept'].inAll,
    maxReady: maxReady ?? Math.min(2, total),
    start: takeSpare,
    keyOf: () => '',
    none: undefined,
    readSetting: async () => undefined,
    preparesNext: total > 0,
    warm: () => (settings.pluginImage === '' ? undefined : prepareSpare()),
    close: () => {
      closing.abort();
      clearTimeout(idle);
      return dropSpare();
    },
  });
  return engine;
}

function createStarter({ settings, commands, dataDir }: DockerEngineParts, signal: AbortSignal): () => Promise<GuestProcess> {
  let runnerText: Promise<string> | undefined;
  return async () => {
    const image = settings.pluginImage;
    if (image === '') throw noImage();
    runnerText ??= provideGuestRunner(resolve(dataDir), 'node').then((file) => readFile(file, 'utf8'));
    runnerText.catch(() => {
      runnerText = undefined;
    });
    const runner = await runnerText;
    const opened = await commands.hold({ id: 'plugin-cell', image }, signal);
    const heapMb = Math.max(leastHeapMb, Math.floor(settings.memoryBytes / MIB) - spareMb);
    return startGuestContainer({ opened, image, runner, heapMb });
  };
}

async function findMissingDocker({ socket, pluginImage }: DockerSettings): Promise<string | undefined> {
  if (pluginImage === '') {
    return 'No image for plugins is named: set docker.pluginImage in the config to one with Node 22 or later, then restart the daemon.';
  }
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('it did not answer in time')), answerMs);
  try {
    const docker = createDockerClient({ socket, env: process.env })();
    await Promise.race([docker.then((client) => client.ping()), late.promise]);
    return undefined;
  } catch (error) {
    const { message, fix } = describeDockerError(error, 'for plugins in containers');
    return `${message} ${fix}`;
  } finally {
    clearTimeout(timer);
  }
}

function noImage(): HotcellError {
  return new HotcellError('image-missing', 'The engine "docker" needs an image with Node, and the config names none.', {
    fix: 'Set docker.pluginImage to an image of this machine with Node 22 or later, such as node:22-alpine, and restart.',
  });
}
