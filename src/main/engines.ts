import { sharePlaces, spareExtismThreads } from '../config/quotas/quota.ts';
import type { Engine, EngineName } from '../engines/engine.ts';
import { createExtismEngine } from '../engines/extism/extism-engine.ts';
import { createDenoEngine } from '../engines/process/deno/deno-engine.ts';
import { type CommandRunner, createCommandRunner } from '../engines/process/docker/command/command-runner.ts';
import { createDockerEngine } from '../engines/process/docker/engine/docker-engine.ts';
import { allowNamedImages, listAllowedImages } from '../engines/process/docker/images/image-uses.ts';
import type { QuickJsOptions } from '../engines/quickjs/engine.ts';
import { forbiddenSegments } from '../permissions/forbidden-segments.ts';
import type { Foundation } from './foundation.ts';

/** Every engine by its name, and what runs native commands. */
export interface OpenEngines {
  readonly engines: Readonly<Record<EngineName, Engine>>;
  readonly commands: CommandRunner;
}

/** What engines tell of programs: whose code did not stop when its time was over, and whose kept cell was lost, and why. */
type ProgramNews = Pick<QuickJsOptions, 'onKill' | 'onCellLost'>;

/** Starts the engines. */
export async function openEngines(foundation: Foundation, news: ProgramNews): Promise<OpenEngines> {
  const { config, closers, logFault, openQuickJs } = foundation;
  const quickjs = await openQuickJs({
    dataDir: config.dataDir,
    workers: config.workers,
    waiting: config.waiting,
    ...news,
  });
  closers.push(() => quickjs.close());
  const extism = createExtismEngine({ places: sharePlaces(config.workers.max + spareExtismThreads) });
  closers.push(() => extism.close());
  const deno = createDenoEngine({ dataDir: config.dataDir, forbiddenSegments });
  closers.push(() => deno.close());
  const commands = createCommandRunner({
    dataDir: config.dataDir,
    settings: config.docker,
    allowedImages: () => listAllowedImages(allowNamedImages(config)),
    env: process.env,
    onFault: logFault,
  });
  closers.push(() => commands.close());
  const docker = createDockerEngine({ dataDir: config.dataDir, settings: config.docker, commands });
  closers.push(() => docker.close());
  return { engines: { quickjs, extism, deno, docker }, commands };
}
