import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { describe } from 'vitest';
import type { CommandRequest, CommandResult } from '../../../../src/border/container-command.ts';
import type { DockerSettings } from '../../../../src/config/config-types.ts';
import { defaultSettings } from '../../../../src/config/schema.ts';
import { type CommandRunner, createCommandRunner } from '../../../../src/engines/process/docker/command/command-runner.ts';
import { ownerLabel } from '../../../../src/engines/process/docker/container/container-flags.ts';
import { nameOwner } from '../../../../src/engines/process/docker/container/containers.ts';
import { listAllowedImages } from '../../../../src/engines/process/docker/images/image-uses.ts';
import { HotcellError } from '../../../../src/errors/hotcell-error.ts';

/** The images that scripts/prepare-tests.ts makes. */
export const testImages = {
  box: 'hotcell-test/box:2',
  tools: 'hotcell-test/tools:2',
  media: 'hotcell-test/media:1',
  python: 'hotcell-test/python:2',
  node: 'hotcell-test/node:2',
} as const;

/** Whether Docker and the images of the tests are there. */
export const isDockerReady =
  spawnSync('docker', ['image', 'inspect', ...Object.values(testImages)], { stdio: 'ignore' }).status === 0;
if (!isDockerReady)
  console.warn('Docker or its test images are missing: tests are skipped. Get them: node scripts/prepare-tests.ts');

/** `describe` where there is a Docker Engine with the test images. */
export const describeDocker = describe.skipIf(!isDockerReady);

/** A runner over a data directory of its own, and a view on what Docker holds of it. */
export interface RunnerHouse {
  readonly runner: CommandRunner;
  readonly docker: Docker;
  readonly dataDir: string;
  readonly faults: readonly unknown[];
  run(command: string, args: readonly string[], more?: Partial<CommandRequest>, signal?: AbortSignal): Promise<CommandResult>;
  /** The same for a shell script in the box image. */
  sh(script: string, more?: Partial<CommandRequest>): Promise<CommandResult>;
  /** How a run failed. */
  fail(running: Promise<unknown>): Promise<HotcellError>;
  /** Ids of the containers of this house, running or not. */
  containers(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens one. `settings` goes over the defaults of the config; `dataDir` is that of another house, for its successor. */
export function openRunnerHouse(
  settings: Partial<DockerSettings> = {},
  dataDir = mkdtempSync(join(tmpdir(), 'hotcell-docker-')),
): RunnerHouse {
  const faults: unknown[] = [];
  const allSettings = { ...defaultSettings.docker, images: Object.values(testImages), ...settings };
  const runner = createCommandRunner({
    dataDir,
    settings: allSettings,
    allowedImages: () => listAllowedImages(allSettings),
    env: {},
    onFault: (error) => faults.push(error),
  });
  const docker = new Docker({ socketPath: settings.socket ?? '/var/run/docker.sock' });
  const run: RunnerHouse['run'] = (command, args, more = {}, signal = new AbortController().signal) =>
    runner.run(
      { id: 'exe_test', image: testImages.box, command, args, timeoutMs: 20_000, maxOutputBytes: 10_000, ...more },
      signal,
    );
  return {
    runner,
    docker,
    dataDir,
    faults,
    run,
    sh: (script, more) => run('sh', ['-c', script], more),
    fail: async (running) => {
      const error: unknown = await running.then(
        (value) => new Error(`it did not fail but gave ${JSON.stringify(value).slice(0, 500)}`),
        (reason) => reason,
      );
      if (error instanceof HotcellError) return error;
      throw error;
    },
    containers: async () => {
      const found = await docker.listContainers({ all: true, filters: { label: [`${ownerLabel}=${nameOwner(dataDir)}`] } });
      // Docker's list can name a container that was removed while it ended: only what can be inspected exists.
      const real = await Promise.all(
        found.map(({ Id }) =>
          docker
            .getContainer(Id)
            .inspect()
            .then(
              () => [Id],
              () => [],
            ),
        ),
      );
      return real.flat();
    },
    close: async () => {
      await runner.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What a command wrote, as text. */
export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

/** Asks again until the answer is right, or the time is over. */
export async function eventually<Answer>(ask: () => Promise<Answer>, isRight: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const answer = await ask();
    if (isRight(answer) || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Which of these containers runs the program by now: that one runs tells nothing of the command in it. */
export function findRunning(docker: Docker, list: () => Promise<readonly string[]>, program: string): Promise<string> {
  const look = async (): Promise<string> => {
    for (const id of await list()) {
      const processes: unknown = await docker
        .getContainer(id)
        .top()
        .catch(() => undefined);
      if ((JSON.stringify(processes) ?? '').includes(`"${program}`)) return id;
    }
    return '';
  };
  return eventually(look, (id) => id !== '');
}
