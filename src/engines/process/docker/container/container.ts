import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { HotcellError } from '../../../../errors/hotcell-error.ts';
import { describeDockerError, readStatus } from '../docker-client.ts';
import { fromInit } from '../init/init-frames.ts';
import { InitLink } from '../init/init-link.ts';
import { attachStreams } from './attach-streams.ts';
import { type ContainerIdentity, type ContainerPlan, type ContainerRuntime, describeContainer } from './container-flags.ts';
import { openUsageMeter, type UsageMeter } from './usage-meter.ts';
import { findIgnoredFlags, findWeakSpots } from './verify.ts';

/** A container that is ready for one command. */
export interface CellContainer {
  readonly id: string;
  readonly link: InitLink;
  /** Why it ended by itself, in a sentence that is true: asked once the line is down. `what` ran in it. */
  explainEnd(what?: string): Promise<HotcellError>;
  /** Rejects when the container is gone. */
  openMeter(): Promise<UsageMeter>;
  /** Kills and removes it with everything in it. Asking again is harmless; rejects when Docker does not do it. */
  remove(): Promise<void>;
}

const helloTimeoutMs = 20_000;
const removeAgainMs = 100;
const maxRemovals = 50;

/**
 * Starts a container and checks it twice: what Docker says that it made, and what the kernel says to its first process.
 * Throws `engine-failed` for a runtime that does not keep a flag, and leaves nothing behind when it fails.
 */
export async function startContainer(docker: Docker, plan: ContainerPlan, identity: ContainerIdentity): Promise<CellContainer> {
  const container = await docker.createContainer(describeContainer(plan, identity)).catch((error: unknown) => {
    throw readStatus(error) === 404
      ? new HotcellError('image-missing', 'The image of the command is not on this machine any more.', { cause: error })
      : describeDockerError(error, 'to start a container');
  });
  const remove = createRemove(container);
  try {
    const stream = await attachStreams(docker, container.id);
    return await openCell(container, stream, { plan, runtime: identity.runtime, remove });
  } catch (error) {
    await remove().catch(() => undefined);
    throw describeDockerError(error, 'to start a container');
  }
}

async function openCell(
  container: Docker.Container,
  stream: Duplex,
  { plan, runtime, remove }: { plan: ContainerPlan; runtime: ContainerRuntime; remove: () => Promise<void> },
): Promise<CellContainer> {
  const { promise: hello, resolve, reject } = Promise.withResolvers<string>();
  const noHello = () => reject(new HotcellError('engine-failed', 'The container ended before its first process could speak.'));
  const link = new InitLink(stream, {
    onFrame: ({ type, payload }) => (type === fromInit.hello ? resolve(payload.toString('latin1')) : noHello()),
    onDown: noHello,
  });
  const timer = setTimeout(noHello, helloTimeoutMs);
  try {
    const [, made, said] = await Promise.all([container.start(), container.inspect(), hello]);
    const broken = [...new Set([...findIgnoredFlags(made, plan, runtime), ...findWeakSpots(said)])];
    if (broken.length > 0) throw refuseRuntime(broken);
  } finally {
    clearTimeout(timer);
  }
  link.listen();
  return {
    id: container.id,
    link,
    explainEnd: (what = 'the command') =>
      link.isGarbled
        ? Promise.resolve(fail(`The container said what none may say while ${what} ran, and was ended.`))
        : explainEnd(container, what),
    openMeter: () => openUsageMeter(container),
    remove: async () => {
      link.close();
      await remove();
    },
  };
}

function refuseRuntime(broken: readonly string[]): HotcellError {
  const message = `The container runtime does not keep what a sandbox needs: ${broken.join(', ')}. Nothing was run.`;
  return new HotcellError('engine-failed', message, {
    fix: 'Use Docker Engine or Podman with its default runtime, seccomp and cgroups switched on; see hotcell doctor.',
    facts: { flags: broken },
  });
}

function createRemove(container: Docker.Container): () => Promise<void> {
  let removing: Promise<void> | undefined;
  const remove = async (left: number): Promise<void> => {
    try {
      await container.remove({ force: true, v: true });
    } catch (error) {
      const status = readStatus(error);
      // 409: somebody else removes it just now, or it ended while it was being killed. Only 404 says that it is gone.
      if (status === 409 && left > 0) return sleep(removeAgainMs).then(() => remove(left - 1));
      if (status !== 404) throw error;
    }
  };
  return () => {
    removing ??= remove(maxRemovals);
    removing.catch(() => {
      removing = undefined;
    });
    return removing;
  };
}

async function explainEnd(container: Docker.Container, what: string): Promise<HotcellError> {
  try {
    const { State: state } = await container.inspect();
    if (state.OOMKilled) return new HotcellError('memory-exceeded', `All the memory of the container was used by ${what}.`);
    return fail(`The container was ended from outside while ${what} ran (exit code ${state.ExitCode}).`);
  } catch (error) {
    if (readStatus(error) === 404) return fail(`The container was removed from outside while ${what} ran.`);
    return fail(`Docker stopped or was restarted while ${what} ran; it is lost.`);
  }
}

function fail(message: string): HotcellError {
  return new HotcellError('engine-failed', message, { fix: 'Try again; look at the log of Docker if it comes back.' });
}
