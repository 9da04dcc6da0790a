import { limitTable, resolveLimits } from '../config/limits.ts';
import { embedSidecar } from '../engines/extism/sidecar.ts';
import { nodeBuiltins, refusedBuiltins } from '../engines/quickjs/node-builtins.ts';
import { isNothing } from '../permissions/decision.ts';
import { createCompiler } from '../plugins/compile/compile.ts';
import { explainLoadError } from '../plugins/diagnostics/load-diagnostic.ts';
import { createTracer, type Tracer } from '../plugins/diagnostics/trace.ts';
import { readManifest } from '../plugins/manifest/read-manifest.ts';
import { createSchemaReader } from '../plugins/schema/schema-reader.ts';
import { createBuilder } from '../plugins/supervisor/build.ts';
import { createSupervisor, type PluginSupervisorControls } from '../plugins/supervisor.ts';
import type { createToolCaller } from '../tools/call.ts';
import type { ToolRegistry } from '../tools/tools-api.ts';
import { addSchemaWarnings } from '../tools/validation/schema-warnings.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { Foundation } from './foundation.ts';
import type { Ladder } from './ladder.ts';

/** Everything that plugins are built and kept with. `caller` is asked for later, when there are calls. */
export interface PluginNeeds extends Pick<OpenEngines, 'engines'>, Pick<Consents, 'grants' | 'uses'> {
  readonly registry: ToolRegistry;
  readonly ladder: Ladder;
  readonly caller: () => ReturnType<typeof createToolCaller>;
}

/** Opens what turns files into generations. It is closed by whoever opened it: the doors have to shut first. */
export function openPlugins(
  foundation: Foundation,
  needs: PluginNeeds,
): { readonly plugins: PluginSupervisorControls; readonly tracer: Tracer } {
  const { config, closers, store, events, logFault } = foundation;
  const { engines, registry, ladder, grants, uses, caller } = needs;
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
    refuseEngine: ladder.refuseEngine,
    climb: {
      rungs: ladder.rungs,
      escalationOf: ladder.escalationOf,
      isAllowed: (asking) => isNothing(grants.decide(asking).pending),
    },
  });
  const plugins = createSupervisor({
    config,
    store,
    events,
    builder,
    engines,
    publish: registry,
    decideGrants: grants.decide,
    needsGeneration: (id) => caller().needsGeneration(id),
    // Before anything else may call: a shared cell belongs to the call that was in it.
    onRestored: () => caller().resume(false),
    onForgotten(pluginPath) {
      grants.forget(pluginPath);
      uses.forget(pluginPath);
    },
    builtBy: `${foundation.version} ${ladder.fingerprint}`,
    onFault: (error) => logFault(error),
  });
  return { plugins, tracer };
}
