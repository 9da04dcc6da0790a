import type { createToolCaller } from '../calls/tool-caller.ts';
import { thisBuild } from '../client/daemon-file.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { openPluginBuilder } from '../operations/handlers/plugins/plugin-builder.ts';
import { isNothing } from '../permissions/decision.ts';
import { createTracer, type Tracer } from '../plugins/diagnostics/trace.ts';
import type { PluginBuilder } from '../plugins/supervisor/build/builder-types.ts';
import { createSupervisor, type PluginSupervisorControls } from '../plugins/supervisor.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { EscalationRules } from './escalation-rules.ts';
import type { Foundation } from './foundation.ts';

/** Everything that plugins are built and kept with. `caller` is asked for later, when there are calls. */
export interface PluginNeeds extends Pick<OpenEngines, 'engines'>, Pick<Consents, 'grants' | 'uses'> {
  readonly registry: ToolRegistry;
  readonly names: NameRegistry;
  readonly escalationRules: EscalationRules;
  readonly caller: () => ReturnType<typeof createToolCaller>;
}

/** Opens what turns files into generations. It is closed by whoever opened it: the doors have to shut first. */
export function openPlugins(
  foundation: Foundation,
  needs: PluginNeeds,
): { readonly plugins: PluginSupervisorControls; readonly tracer: Tracer; readonly builder: PluginBuilder } {
  const { config, closers, schemaReader, store, events, logFault } = foundation;
  const { engines, registry, names, escalationRules, grants, uses, caller } = needs;
  const tracer = createTracer({
    readArtifacts: async (id) => {
      const { sourceMap = '', sources = [] } = (await plugins.readArtifacts(id)) ?? {};
      return { sourceMap, sources };
    },
  });
  const builder = openPluginBuilder({
    config,
    closers,
    schemaReader,
    engines,
    refuseEngine: escalationRules.refuseEngine,
    escalation: {
      engines: escalationRules.engines,
      escalationOf: escalationRules.escalationOf,
      isAllowed: (asking) => isNothing(grants.decide(asking).pending),
    },
  });
  const plugins = createSupervisor({
    config,
    store,
    events,
    builder,
    engines,
    registry,
    names,
    decideGrants: grants.decide,
    needsGeneration: (id) => caller().needsGeneration(id),
    // Before anything else may call: a shared cell belongs to the call that was in it.
    onRestored: () => caller().resume(false),
    onForgotten(unitPath) {
      grants.forget(unitPath);
      uses.forget(unitPath);
    },
    madeBy: { terms: `${foundation.version} ${escalationRules.fingerprint}`, program: thisBuild ?? '' },
    onFault: (error) => logFault(error),
  });
  return { plugins, tracer, builder };
}
