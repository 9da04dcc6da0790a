import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sharePlaces } from '../../../../config/budgets/budget.ts';
import { budgets } from '../../../../config/budgets.ts';
import type { DockerSettings } from '../../../../config/config-types.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { provideGuestRunner } from '../../../../guests/runner.ts';
import type { Engine } from '../../../engine.ts';
import { GuestEngine } from '../../guest-engine.ts';
import type { CommandRunner } from '../command/command-runner.ts';
import { type GuestContainer, startGuestContainer } from './guest-container.ts';
import { createSpare, type Spare } from './spare.ts';

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

const MIB = 1024 * 1024;
/** What Node needs beside its heap. */
const spareMb = 96;
const leastHeapMb = 32;

/**
 * Makes the engine that runs plugins with Node in hardened containers, one container a cell. Nothing of this machine is in
 * them; what a plugin asks of the daemon goes over the standard streams of its container.
 */
export function createDockerEngine(parts: DockerEngineParts): Engine {
  const closing = new AbortController();
  const start = createStarter(parts, closing.signal);
  const spare = createSpare(async () => {
    const container = await start();
    engine.restLater();
    return container;
  }, parts.settings.warm.total > 0);
  const engine = new DockerEngine(parts, spare, closing);
  return engine;
}

class DockerEngine extends GuestEngine<GuestContainer, undefined> {
  readonly #settings: DockerSettings;
  readonly #spare: Spare;
  readonly #closing: AbortController;
  #idle: NodeJS.Timeout | undefined;

  constructor({ settings, maxKept, maxReady }: DockerEngineParts, spare: Spare, closing: AbortController) {
    const { total } = settings.warm;
    super({
      name: 'docker',
      places: sharePlaces(settings.maxRunning),
      aside: budgets['docker.aside'],
      maxKept: maxKept ?? budgets['cells.kept'].inAll,
      maxReady: maxReady ?? Math.min(2, total),
      start: () => spare.take(),
      keyOf: () => '',
      none: undefined,
      readSetting: async () => undefined,
      preparesNext: total > 0,
    });
    this.#settings = settings;
    this.#spare = spare;
    this.#closing = closing;
  }

  warm(): void {
    if (this.#settings.pluginImage !== '') this.#spare.prepare();
  }

  override async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#idle);
    await Promise.all([this.#spare.close(), super.close()]);
  }

  /** Containers that wait for a call cost memory: a while after the last one was started there are none. */
  restLater(): void {
    clearTimeout(this.#idle);
    if (this.#closing.signal.aborted) return;
    this.#idle = setTimeout(() => {
      this.cells.dropReady();
      this.#spare.drop();
    }, this.#settings.warm.idleMs);
    this.#idle.unref();
  }
}

function createStarter({ settings, commands, dataDir }: DockerEngineParts, signal: AbortSignal): () => Promise<GuestContainer> {
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

function noImage(): HotcellError {
  return new HotcellError('image-missing', 'The engine "docker" needs an image with Node, and the config names none.', {
    fix: 'Set docker.pluginImage to an image of this machine with Node 22 or later, such as node:22-alpine, and restart.',
  });
}
