import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createExecutionReader } from '../calls/record/execution-reader.ts';
import { createToolCaller } from '../calls/tool-caller.ts';
import type { Config } from '../config/config-types.ts';
import { limitTable } from '../config/limits.ts';
import { allowNamedImages, listAllowedImages } from '../engines/process/docker/images/image-uses.ts';
import { nodeBuiltins, nodeStandIns, refusedBuiltins } from '../guests/node-builtins.ts';
import { createHookRunner, withoutCallsAndQuestions, withoutSuspending } from '../hooks/hook-runner.ts';
import { createHooks, type Hooks } from '../hooks/hooks.ts';
import { createShellRunner } from '../hooks/shell-runner.ts';
import { createCompiler } from '../plugins/compile/compile.ts';
import type { Journey } from './calls.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { Foundation } from './foundation.ts';

/** Runs of hooks that may wait, all together. */
const maxPending = 2000;

/** What a call may take, the event about it must be able to tell. The same object as long as the config says the same. */
function createHookLimits(): (limits: Config['limits']) => Config['limits'] {
  let read: Config['limits'] = {};
  let made: Config['limits'] | undefined;
  return (limits) => {
    if (made === undefined || limits !== read) made = { ...limits, argumentBytes: limitTable.argumentBytes.max };
    read = limits;
    return made;
  };
}

/** Opens the hooks, with a call journey of their own. They are told nothing before they are started. */
export function openHooks(
  foundation: Foundation,
  needs: OpenEngines & Pick<Consents, 'approvals'> & { readonly journey: Journey },
): Hooks {
  const { config, closers, store, events, logFault } = foundation;
  const { engines, commands, approvals, journey } = needs;
  const { quickjs, deno } = engines;
  if (quickjs === undefined || deno === undefined) throw new Error('hooks need the engines quickjs and deno');
  // What a hook imports lies in its own folder: shared folders are not part of what was approved.
  const compiler = createCompiler({ sharedDirs: [], builtins: nodeBuiltins, standIns: nodeStandIns, refusedBuiltins });
  closers.push(() => compiler.close());

  const runner = createHookRunner(() => caller);
  const limitsOfHooks = createHookLimits();
  const caller = createToolCaller({
    ...journey,
    config: {
      ...config,
      // Switching off tools does not switch off who watches over them.
      tools: { ...config.tools, enabled: true, custom: true },
      queue: { ...config.queue, maxPending, maxPendingPerCaller: maxPending },
      get limits() {
        return limitsOfHooks(config.limits);
      },
      // What a hook may use was approved with its content.
      limitsWithoutGrant: { wallMs: limitTable.wallMs.max },
    },
    registry: runner.registry,
    engines: withoutSuspending({ quickjs, deno }),
    capabilities: withoutCallsAndQuestions(journey.capabilities),
    explainError: (error, unit) => hooks.explainError(error, unit),
  });
  closers.push(() => caller.close());

  const dataHooks = join(config.dataDir, 'hooks');
  mkdirSync(dataHooks, { recursive: true, mode: 0o700 });
  const allowedImages = listAllowedImages(allowNamedImages(config));
  const executions = createExecutionReader({ store });
  const hooks = createHooks({
    config,
    roots: { dataHooks, skillDirs: config.skillDirs },
    store,
    events,
    approvals,
    builder: {
      compiler,
      engines: { quickjs, deno },
      runScript: createShellRunner(commands.run, config.docker.maxOutputBytes),
      stagingDir: join(config.dataDir, 'hook-builds'),
      shellImage: config.docker.commands.sh ?? config.docker.images[0],
      isImageAllowed: (image) => allowedImages.includes(image),
      get limits() {
        return config.limits;
      },
    },
    run: runner.run,
    async readExecution(id) {
      await store.committed();
      return store.executions.get(id) === undefined ? undefined : executions.get(id, { id: 'hooks', role: 'admin' });
    },
    now: Date.now,
    onFault: (error) => logFault(error),
  });
  closers.push(() => hooks.close());
  return hooks;
}
