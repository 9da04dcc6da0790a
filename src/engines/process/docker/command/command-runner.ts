import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { CommandRequest, CommandResult, RunCommand } from '../../../../border/container-command.ts';
import { raceAbort } from '../../../../concurrency/race-abort.ts';
import type { Config } from '../../../../config/config-types.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import type { CellContainer } from '../container/container.ts';
import type { ContainerPlan } from '../container/container-flags.ts';
import { createContainers, nameOwner } from '../container/containers.ts';
import { createDockerClient, describeDockerError } from '../docker-client.ts';
import { createImageBook, type ImageBook } from '../images/image-book.ts';
import { findInitFile } from '../init/init-file.ts';
import { createContainerPlaces } from './container-places.ts';
import { runCommand } from './run-command.ts';
import { createWarmPool } from './warm-pool.ts';

/** Runs commands in containers, one container a command. */
export interface CommandRunner {
  readonly run: RunCommand;
  readonly images: ImageBook;
  /** Starts a container that the caller talks to and removes itself; it counts as a run of `id`. */
  open(request: Pick<CommandRequest, 'id' | 'image' | 'cpus' | 'holder'>, signal: AbortSignal): Promise<OpenedCell>;
  /** The same for a container that is kept: it waits for no turn, and whoever asks bounds how many there are. */
  hold(request: Pick<CommandRequest, 'id' | 'image' | 'cpus'>, signal: AbortSignal): Promise<OpenedCell>;
  /** What runs now, or waits for its container: the oldest first. */
  listRuns(): readonly CommandRun[];
  /** Kills the runs of an id; answers how many there were. */
  kill(id: string): Promise<number>;
  killAll(): Promise<number>;
  /** Removes containers of this data directory that are in nobody's hands, as a crashed daemon leaves them; answers how many. */
  sweep(): Promise<number>;
  /** Resolves when no container is being made ready. */
  settled(): Promise<void>;
  /** Ends what runs and removes every container. */
  close(): Promise<void>;
}

/** One run, of a command or of a plugin that is kept in a container. */
export interface CommandRun {
  readonly id: string;
  readonly image: string;
  readonly command?: string;
  readonly startedAtMs: number;
}

/** A container and what its image sets. */
export interface OpenedCell {
  readonly cell: CellContainer;
  readonly imageEnv: Readonly<Record<string, string>>;
  /** Removes the container. */
  readonly done: () => Promise<void>;
}

interface RunEntry {
  readonly run: CommandRun;
  readonly ending: AbortController;
  readonly over: Promise<unknown>;
}

/** What a runner is made with. */
export interface CommandRunnerParts {
  readonly dataDir: string;
  readonly settings: Config['docker'];
  /** The allow list, as the config has it now. */
  readonly allowedImages: () => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Hears of failures that no call waits for. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

const graceMs = 1000;
const stopMs = 15_000;

/** Makes a runner. Docker is not asked for anything before the first command. */
export function createCommandRunner({ dataDir, settings, allowedImages, env, onFault }: CommandRunnerParts): CommandRunner {
  const agent = new Agent();
  const docker = createDockerClient({ socket: settings.socket, env }, agent);
  const pinFile = join(dataDir, 'docker-images.json');
  const images = createImageBook({ docker, allowed: allowedImages, pinFile });
  const owner = nameOwner(dataDir);
  const places = createContainerPlaces({ maxRunning: settings.maxRunning, maxWaiting: settings.maxWaiting });
  const { perImage: perKind, total, idleMs } = settings.warm;
  const containers = createContainers({ docker, owner });
  const pool = createWarmPool({ start: containers.start, perKind, total, idleMs, onFault });
  const running = new Set<RunEntry>();
  const removals = new Set<Promise<unknown>>();
  let isClosed = false;

  function plan(imageId: string, cpus: number): ContainerPlan {
    const { memoryBytes, pids, scratchBytes } = settings;
    return { imageId, size: { cpus, memoryBytes, pids, scratchBytes }, initFile: findInitFile(), owner };
  }

  /** What is removed while nobody waits for it, but a stop. */
  function removeLater(removal: Promise<unknown>): void {
    removals.add(removal);
    void removal.finally(() => removals.delete(removal));
  }

  type OpenRequest = Parameters<CommandRunner['open']>[0];

  async function open({ id, image, holder, cpus = 1 }: OpenRequest, signal: AbortSignal, isHeld = false): Promise<OpenedCell> {
    if (isClosed) throw new HotcellError('shutting-down', 'The daemon stops; no command is started any more.');
    const leave = isHeld ? () => undefined : await places.enter(holder ?? { callerId: id, unitPath: id, isAdmin: false }, signal);
    try {
      const resolved = await orAborted(images.resolve(image), signal, id);
      const coming = pool.take(plan(resolved.id, cpus));
      const cell = await orAborted(coming, signal, id).catch((error: unknown) => {
        // Nobody waits for it any more when it comes after all.
        if (signal.aborted) removeLater(coming.then((late) => late.remove()).catch(onFault));
        throw describeDockerError(error, `to run a command in ${image}`);
      });
      const done = async () => {
        leave();
        await cell.remove().catch(onFault);
      };
      if (isClosed || signal.aborted) {
        await done();
        throw endedEarly(id);
      }
      return { cell, imageEnv: resolved.env, done };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async function runOne(request: CommandRequest, signal: AbortSignal): Promise<CommandResult> {
    const { cell, imageEnv, done } = await open(request, signal);
    try {
      return await runCommand(cell, request, { imageEnv, graceMs }, signal);
    } finally {
      // The answer does not wait for Docker to tidy up, but a stop of the daemon does.
      cell.link.close();
      removeLater(done());
    }
  }

  async function openTracked(request: OpenRequest, signal: AbortSignal, isHeld = false): Promise<OpenedCell> {
    const ending = new AbortController();
    const opened = await open(request, AbortSignal.any([signal, ending.signal]), isHeld);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    ending.signal.addEventListener('abort', () => opened.cell.link.close(), { once: true });
    track(request, over, ending);
    return { ...opened, done: () => opened.done().finally(resolve) };
  }

  function track({ id, image, command }: OpenRequest & { command?: string }, over: Promise<unknown>, ending: AbortController) {
    const run = { id, image, ...(command === undefined ? {} : { command }), startedAtMs: Date.now() };
    const entry = { run, ending, over };
    running.add(entry);
    void over.catch(() => undefined).finally(() => running.delete(entry));
  }

  async function end(entries: readonly RunEntry[], reason?: HotcellError): Promise<number> {
    for (const { ending } of entries) ending.abort(reason);
    await Promise.allSettled(entries.map(({ over }) => over));
    return entries.length;
  }

  return {
    images,
    run: (request, signal) => {
      const ending = new AbortController();
      const over = runOne(request, AbortSignal.any([signal, ending.signal])).catch((error: unknown) => {
        const { reason }: { reason: unknown } = ending.signal;
        throw reason instanceof HotcellError ? reason : error;
      });
      track(request, over, ending);
      return over;
    },
    open: (request, signal) => openTracked(request, signal),
    hold: (request, signal) => openTracked(request, signal, true),
    listRuns: () => [...running].map(({ run }) => run),
    kill: (id) =>
      end(
        [...running].filter(({ run }) => run.id === id),
        killed(),
      ),
    killAll: () => end([...running], killed()),
    // A data directory without pins never ran a command: Docker need not be asked.
    sweep: async () => (existsSync(pinFile) ? containers.sweep() : 0),
    settled: () => pool.settled(),
    close: async () => {
      isClosed = true;
      const tidy = async (): Promise<void> => {
        await end([...running]);
        await pool.close();
        // What ended above is being removed now.
        await Promise.all(removals);
        await containers.close();
      };
      await withinStop(tidy()).catch(onFault);
      // Whatever is asked still would keep the process alive.
      agent.destroy();
    },
  };
}

function killed(): HotcellError {
  return new HotcellError('cancelled', 'An operator ended what ran in the container.');
}

function endedEarly(id: string): HotcellError {
  return new HotcellError('cancelled', `The call ${id} ended before its command could start.`);
}

/** A Docker that does not answer holds up no stop; the next start sweeps. */
function withinStop(tidying: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const sentence = 'Docker did not remove the containers in time; the next start does.';
  const timer = setTimeout(() => reject(new HotcellError('engine-failed', sentence)), stopMs);
  return Promise.race([tidying, late]).finally(() => clearTimeout(timer));
}

/** The answer, or `cancelled` as soon as the call is: Docker may take its time, or never answer. */
async function orAborted<Answer>(asking: Promise<Answer>, signal: AbortSignal, id: string): Promise<Answer> {
  return raceAbort(asking, signal).catch((error: unknown) => {
    throw signal.aborted ? endedEarly(id) : error;
  });
}
