import { createCapabilityTable } from './capabilities/capability-table.ts';
import { buildBorderView } from './capabilities/view.ts';
import { removeDaemonFile, writeDaemonFile } from './client/daemon-file.ts';
import { limitTable, resolveLimits } from './config/limits.ts';
import { createDenoEngine } from './engines/deno/deno-engine.ts';
import { createSandboxRunner } from './engines/docker/sandbox-runner.ts';
import type { Engine } from './engines/engine.ts';
import { createExtismEngine } from './engines/extism/extism-engine.ts';
import { embedSidecar } from './engines/extism/sidecar.ts';
import { createQuickJsEngine } from './engines/quickjs/engine.ts';
import { nodeBuiltins, refusedBuiltins } from './engines/quickjs/node-builtins.ts';
import { createEventLog } from './events/event-log.ts';
import { createAuthenticator } from './http/auth.ts';
import { startHttpServer } from './http/server.ts';
import { readModelKey } from './models/model-key.ts';
import { createModels } from './models/models.ts';
import { createAuditTrail } from './operations/audit-trail.ts';
import type { Daemon, DaemonOptions } from './operations/daemon-types.ts';
import { createKeyRing } from './operations/key-ring.ts';
import { createStrangerCleaner } from './operations/strangers.ts';
import { createOperations } from './operations/table.ts';
import { createApprovals } from './permissions/approvals.ts';
import { isNothing } from './permissions/decision.ts';
import { forbiddenSegments } from './permissions/forbidden-segments.ts';
import { createGrantQuestions } from './permissions/grant-questions.ts';
import { createGrantBook } from './permissions/grants.ts';
import { createPermissionUses } from './permissions/uses.ts';
import { createCompiler } from './plugins/compile/compile.ts';
import { explainLoadError } from './plugins/diagnostics/load-diagnostic.ts';
import { createTracer } from './plugins/diagnostics/trace.ts';
import { readManifest } from './plugins/manifest/read-manifest.ts';
import { createSchemaReader } from './plugins/schema/schema-reader.ts';
import { createBuilder } from './plugins/supervisor/build.ts';
import { createSupervisor } from './plugins/supervisor.ts';
import { createSecretBook } from './secrets/secret-book.ts';
import { openStore } from './store/open.ts';
import { createToolCaller } from './tools/call.ts';
import { createExecutionReader } from './tools/execution-reader.ts';
import { recoverInterrupted } from './tools/execution-records.ts';
import { createToolRegistry } from './tools/registry.ts';
import { createToolPort } from './tools/tool-port.ts';
import { addSchemaWarnings } from './tools/validation/schema-warnings.ts';

/** What is to be closed, in the order in which it was opened. */
type Closers = Array<() => Promise<void> | void>;

/** How long calls may run on when the daemon stops. */
const DRAIN_MS = 5_000;

/**
 * The composition root: opens the store, starts the engines, watches the plugin folders, opens the doors. What was
 * opened is closed in reverse, also when a later part does not start.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const closers: Closers = [];
  try {
    return await compose(options, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function compose(options: DaemonOptions, closers: Closers): Promise<Daemon> {
  const { config, version, log } = options;
  const startedAtMs = Date.now();
  const logFault = (error: unknown, id?: string) =>
    log.error({ err: error, ...(id === undefined ? {} : { id }) }, 'fault in the daemon');

  const store = openStore({ dataDir: config.dataDir, onWriteError: (error) => logFault(error) });
  closers.push(() => store.close());
  recoverInterrupted(store, startedAtMs);
  const secrets = createSecretBook({
    table: store.secrets,
    config: config.secrets,
    env: process.env,
    now: Date.now,
    onProblem: (sentence) => log.warn(sentence),
  });
  const { redactor } = secrets;
  options.onRedaction?.(redactor.json);
  const events = createEventLog({ store, now: Date.now, redact: redactor.value, onSubscriberError: (error) => logFault(error) });
  if (options.onEvent) closers.push(events.subscribe({}, options.onEvent));

  const registry = createToolRegistry();
  const noteKill = (programKey: string) => {
    const owner = registry.list().find((entry) => entry.published.generation.program.key === programKey);
    if (owner) plugins.noteKill(owner.published.generation.pluginPath, 'its code did not stop when its time was over');
  };
  const quickjs = await createQuickJsEngine({ dataDir: config.dataDir, workers: config.workers, onKill: noteKill });
  closers.push(() => quickjs.close());
  const extism = createExtismEngine({ maxWorkers: config.workers.max });
  closers.push(() => extism.close());
  const deno = createDenoEngine({ dataDir: config.dataDir, forbiddenSegments });
  closers.push(() => deno.close());
  const sandbox = createSandboxRunner({ dataDir: config.dataDir, settings: config.docker, env: process.env, onFault: logFault });
  closers.push(() => sandbox.close());
  const engines = { quickjs, extism, deno };

  const compiler = createCompiler({ sharedDirs: config.sharedDirs, builtins: nodeBuiltins, refusedBuiltins });
  closers.push(() => compiler.close());
  const schemaReader = createSchemaReader();
  closers.push(() => schemaReader.close());
  const tracer = createTracer({
    readArtifacts: async (id) => {
      const { sourceMap = '', sources = [] } = (await plugins.readArtifacts(id)) ?? {};
      return { sourceMap, sources };
    },
  });
  const builder = createBuilder({
    compiler,
    schemaReader,
    engines,
    readManifest: (question) => {
      const read = readManifest({ ...question, limitTable });
      return read.ok ? { ok: true, manifest: addSchemaWarnings(read.manifest) } : read;
    },
    embedSidecar,
    explainLoadError,
    limits: resolveLimits(config.limits),
  });
  const grants = createGrantBook({
    store,
    events,
    presets: config.grants,
    grantRequested: config.grantRequested,
    now: Date.now,
    onExpire: () => void plugins.refreshGrants().catch(logFault),
    onFault: (error) => logFault(error),
  });
  closers.push(() => grants.close());
  const approvals = createApprovals({
    store,
    events,
    limits: config.approvals,
    redact: redactor.value,
    now: Date.now,
    onFault: (error) => logFault(error),
  });
  closers.push(() => approvals.close());
  const uses = createPermissionUses(store, Date.now);
  const audit = createAuditTrail({ store, events, keep: config.audit.keep, now: Date.now, redactor });
  closers.push(() => audit.close());
  const plugins = createSupervisor({
    config,
    store,
    events,
    builder,
    engines,
    publish: registry,
    decideGrants: grants.decide,
    needsGeneration: (id) => caller.needsGeneration(id),
    // Before anything else may call: a shared cell belongs to the call that was in it.
    onRestored: () => caller.resume(false),
    onForgotten(pluginPath) {
      grants.forget(pluginPath);
      uses.forget(pluginPath);
    },
    builtBy: version,
    onFault: (error) => logFault(error),
  });

  const grantQuestions = createGrantQuestions({
    approvals,
    grants,
    listPlugins: () =>
      plugins.list().flatMap(({ path, state, version, permissions }) => {
        const asking = isNothing(permissions.pending) ? undefined : plugins.asking(path);
        return asking === undefined ? [] : { asking, path, state, version };
      }),
    onFault: (error) => logFault(error),
  });
  closers.push(() => grantQuestions.close());
  closers.push(events.subscribe({ types: ['plugin-change', 'plugin-removed', 'grant-change'] }, () => grantQuestions.poke()));

  const models = createModels({
    settings: config.models,
    readKey: (name, baseUrl) => readModelKey(name, baseUrl, { configured: config.env, secrets, processEnv: process.env }),
  });
  const capabilities = createCapabilityTable({
    config,
    store,
    secrets,
    sandbox: sandbox.run,
    models,
    approvals,
    tools: createToolPort({ registry, nested: () => caller.nested }),
    logFault: (id, error) => logFault(error, id),
  });
  closers.push(() => capabilities.close());
  const caller = createToolCaller({
    config,
    registry,
    engines,
    store,
    events,
    capabilities,
    approvals,
    findServable: plugins.findServable,
    explainError: (error, generation) => tracer.explain(error, generation),
    readView: ({ manifest, granted }, use) =>
      buildBorderView({
        pluginName: manifest.name,
        requested: manifest.permissions,
        granted: granted(use),
        config,
        processEnv: process.env,
        secrets,
        executionId: use.executionId,
      }),
    noteUse({ generation }, { granted, permission, detail, allowed, isGiven, record }) {
      if (allowed) uses.note(generation.pluginPath, granted, permission, detail);
      const { id: executionId, caller: callerId, plugin, tool } = record;
      const use = { executionId, caller: callerId, plugin, tool, permission, detail, allowed };
      if (isGiven) audit.noteGiven(use);
      else audit.note(use);
    },
    redactor,
    onFault: (error, executionId) => logFault(error, executionId),
  });
  closers.push(() => caller.close());

  const strangers = createStrangerCleaner({ store, dataDir: config.dataDir, onFault: logFault });
  await strangers.forgetAll();
  const keys = createKeyRing({ store, now: Date.now, defaults: config.callers });
  const executions = createExecutionReader({ store });
  const parts = {
    config,
    plugins,
    grants,
    approvals,
    grantQuestions,
    uses,
    tools: registry,
    caller,
    executions,
    events,
    store,
    keys,
    forgetStranger: strangers.forget,
    secrets,
    models,
    images: sandbox.images,
    version,
    startedAtMs,
  };
  const operations = createOperations(parts);
  const { authenticate, isCurrent, adminToken } = createAuthenticator({
    dataDir: config.dataDir,
    env: process.env,
    keys,
    anonymous: config.anonymous,
  });

  let isReady = false;
  const server = options.listen
    ? await startHttpServer({ config, operations, events, authenticate, isCurrent, log, isReady: () => isReady })
    : undefined;
  if (server) {
    closers.push(() => server.close());
    writeDaemonFile(config.dataDir, { url: server.url, pid: process.pid, version });
    closers.push(() => removeDaemonFile(config.dataDir, process.pid));
  }
  closers.push(() => plugins.close());
  // Last opened, first closed: what runs may end before the doors shut.
  closers.push(() => caller.drain(DRAIN_MS));
  await plugins.start();
  caller.resume(true);
  const enginesInUse = new Set(registry.list().map(({ published }) => published.manifest.engine));
  for (const engine of Object.values<Engine>(engines)) if (enginesInUse.has(engine.name)) engine.warm?.();
  grantQuestions.refresh();
  void sandbox.sweep().catch((error: unknown) => log.debug({ err: error }, 'containers of an earlier run were not swept'));
  isReady = true;
  events.publish('daemon-start', { subject: 'daemon', data: { version, url: server?.url ?? '' } });

  return {
    ...(server ? { url: server.url } : {}),
    token: adminToken,
    parts,
    operations,
    async close(reason) {
      events.publish('daemon-stop', { subject: 'daemon', data: { reason } });
      await closeAll(closers);
    },
  };
}

/** Closes in reverse; a part that fails to close does not keep the others open. */
async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some parts of the daemon did not close');
}
