import { createKeyRing } from './callers/key-ring.ts';
import { createExecutionReader } from './calls/record/execution-reader.ts';
import { removeDaemonFile, writeDaemonFile } from './client/daemon-file.ts';
import { createResourceWatches } from './events/resource-watches.ts';
import { createAuthenticator } from './http/admission/auth.ts';
import { startHttpServer } from './http/server.ts';
import { openCalls } from './main/calls.ts';
import { type Closers, closeAll } from './main/closers.ts';
import { openConsents } from './main/consents.ts';
import { openEngines } from './main/engines.ts';
import { readEscalationRules } from './main/escalation-rules.ts';
import { layFoundation } from './main/foundation.ts';
import { openHooks } from './main/hooks.ts';
import { openHosted } from './main/hosted.ts';
import { openLoops, waitForLoops } from './main/loops.ts';
import { openMcp } from './main/mcp.ts';
import { openNames } from './main/names.ts';
import { openPlugins } from './main/plugins.ts';
import { openRepairs } from './main/repairs.ts';
import { openReplays } from './main/replays.ts';
import { openSchedules } from './main/schedules.ts';
import { openTools } from './main/tools.ts';
import { openTrials } from './main/trials.ts';
import { openUpstreams } from './main/upstreams.ts';
import { warmUp } from './main/warm-up.ts';
import { createModelAsker } from './models/text-generator.ts';
import { createAnonymousCleaner } from './operations/anonymous-cleaner.ts';
import { type Daemon, type DaemonOptions, drainMs } from './operations/daemon-types.ts';
import { createOperations } from './operations/table.ts';
import { findStorageError } from './store/sqlite-error.ts';
import { createHostedTools } from './tools/hosted/hosted-tools.ts';
import { repairCheckerBounds } from './typescript/checker.ts';
import { nameRunner } from './units/unit.ts';
import { createUnitRegistry } from './units/unit-registry.ts';

/**
 * The composition root: opens the store, starts the engines, watches the plugin folders, opens the doors. What was
 * opened is closed in reverse, also when a later part does not start. Each file of `main/` wires one room.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const closers: Closers = [];
  try {
    return await compose(options, closers);
  } catch (error) {
    await closeAll(closers);
    throw findStorageError(error) ?? error;
  }
}

async function compose(options: DaemonOptions, closers: Closers): Promise<Daemon> {
  const foundation = layFoundation(options, closers);
  const { config, openedConfig, version, log, store, secrets, events, logFault } = foundation;

  const names = openNames(foundation);
  const tools = openTools(foundation, names);
  const { registry, news } = tools;
  const findOwner = (programKey: string) =>
    registry.list().find(({ served: { unit } }) => unit.runner.by === 'engine' && unit.runner.program.key === programKey);
  const { engines, commands } = await openEngines(foundation, {
    onKill(programKey) {
      const path = findOwner(programKey)?.served.unit.path;
      if (path !== undefined) plugins.noteKill(path, 'its code did not stop when its time was over');
    },
    onCellLost(programKey, reason) {
      const owner = findOwner(programKey);
      const path = owner?.served.unit.path ?? '';
      events.publish('cell-loss', { subject: owner?.plugin ?? programKey, data: { path, reason } });
    },
  });
  const escalationRules = readEscalationRules(config, { engines, names });
  const consents = openConsents(foundation, names, () => units);
  const { grants, approvals, grantQuestions, uses, audit } = consents;
  const hosted = createHostedTools({ registry, decide: grants.decide, names, news });
  const { plugins, tracer, builder } = openPlugins(foundation, {
    engines,
    registry,
    names,
    escalationRules,
    grants,
    uses,
    caller: () => caller,
  });
  // Who brings tools. The plugin folders come last: they know the near names of what nobody has.
  const units = createUnitRegistry([hosted, plugins.units]);
  const models = openUpstreams(foundation);
  const calls = {
    ...models,
    engines,
    commands,
    ...tools,
    units,
    names,
    escalationRules,
    plugins,
    tracer,
    approvals,
    uses,
    audit,
  };
  const { caller, capabilities, journey, metaTools, tellResourceChange } = openCalls(foundation, {
    ...calls,
    beforeCall: () => hooks.beforeCall,
  });
  const hooks = openHooks(foundation, { engines, commands, approvals, journey });
  const schedules = openSchedules(foundation, { call: caller.call, findKey: (id) => keys.current(id) });
  const { skills, registered } = openHosted(foundation, {
    hosted,
    capabilities,
    metaTools,
    authoring: () => authoring,
    schedules,
    names,
    registry,
    grants,
    grantQuestions,
  });

  const watches = createResourceWatches();
  const askModel = createModelAsker({ ...models, redactor: secrets.redactor, callerOf: metaTools.callerOf });
  const mcp = openMcp(foundation, { hosted, approvals, capabilities, commands, registry, watches, tellResourceChange, askModel });

  const anonymous = createAnonymousCleaner({ store, dataDir: config.dataDir, onFault: logFault });
  await anonymous.forgetAll();
  const keys = createKeyRing({ store, now: Date.now, defaults: config.callers, names });
  closers.push(
    keys.watch((id, what) => {
      if (what === 'revoked') loops.shutOut(id);
      if (what === 'revoked') caller.shutOut(id);
    }),
  );
  const executions = createExecutionReader({ store });
  const replaying = openReplays(foundation, { ...calls, caller, executions, grants });
  const { replays } = replaying;
  // A thread of its own: scripts of models do not wait for the types of a plugin.
  const checker = foundation.openChecker(repairCheckerBounds, 'inspect');
  closers.push(() => checker.close());
  const tryProposal = openTrials(foundation, { engines, grants, plugins, capabilities, checker, replaying });
  const loops = openLoops(foundation, { caller, executions, approvals, keys, upstreams: models.upstreams });
  const { repairs, authoring, health } = openRepairs(foundation, {
    plugins,
    builder,
    checker,
    engines,
    loops,
    executions,
    caller,
    tryProposal,
    grants,
    registry,
  });
  const parts = {
    ...foundation,
    ...consents,
    ...tools,
    ...models,
    ...{ plugins, units, skills, registered, names, caller, executions, loops, replays, tryProposal, keys, mcp, schedules },
    ...{ repairs, authoring, health },
    configState: openedConfig.state,
    tools: registry,
    forgetAnonymous: anonymous.forget,
    images: commands.images,
    containers: commands,
    hooks: hooks.registry,
  };
  const operations = createOperations(parts);
  const doors = createAuthenticator({
    dataDir: config.dataDir,
    env: process.env,
    keys,
    anonymous: config.anonymous,
  });

  let isReady = false;
  const server = options.listen
    ? await startHttpServer({
        config,
        operations,
        events,
        watches,
        ...doors,
        version,
        log,
        gateway: { ...models, loops, keptAnswers: store.keptAnswers, config },
        modelTotals: models.meter.totals,
        isReady: () => isReady,
        storageProblem: store.problem,
      })
    : undefined;
  if (server) {
    closers.push(() => server.close());
    writeDaemonFile(config.dataDir, { url: server.url, pid: process.pid, version });
    closers.push(() => removeDaemonFile(config.dataDir, process.pid));
  }
  closers.push(() => plugins.close());
  closers.push(() => waitForLoops(loops));
  // Last opened, first closed: what runs may end before the doors shut.
  closers.push(() => caller.drain(drainMs));
  closers.push(loops.leave);
  // Before anything can be called: what watches over calls must see the first one.
  await hooks.start();
  await skills.refresh();
  await plugins.start();
  caller.resume(true);
  await mcp.follow();
  if (config.safeMode === 'off' && config.builtins.tools.includes('schedule_task')) schedules.start();
  loops.resume();
  repairs.start();
  health.start();
  const enginesInUse = new Set(
    // The first script of a model may wait for its engine.
    registry.list().flatMap(({ source, served }) => (source === 'builtin' ? [] : [nameRunner(served.unit.runner)])),
  );
  for (const engine of Object.values(engines)) if (enginesInUse.has(engine.name)) engine.warm?.();
  grantQuestions.refresh();
  if (options.reread !== undefined) {
    const watch = openedConfig.start({
      reread: options.reread.readConfig,
      events,
      async onApplied(keys) {
        if (keys.includes('hooks.enabled')) await hooks.start();
        if (keys.includes('mcp.servers')) await mcp.follow();
        await units.refreshGrants();
        grantQuestions.refresh();
      },
      onFault: logFault,
    });
    closers.push(() => watch.close());
  }
  void commands.sweep().catch((error: unknown) => log.debug({ err: error }, 'containers of an earlier run were not swept'));
  isReady = true;
  if (options.warmUp) {
    const ending = new AbortController();
    const warm = warmUp(builder, config.dataDir, ending.signal);
    closers.push(() => {
      ending.abort();
      return warm;
    });
  }
  events.publish('daemon-start', { subject: 'daemon', data: { version, url: server?.url ?? '' } });

  return {
    ...(server ? { url: server.url } : {}),
    token: doors.adminToken,
    parts,
    operations,
    async close(reason) {
      events.publish('daemon-stop', { subject: 'daemon', data: { reason } });
      await closeAll(closers);
    },
  };
}
