import { basename } from 'node:path';
import type { MetaToolParts } from '../builtins/call-tool.ts';
import { createToolPort } from '../calls/attempt/nested-calls.ts';
import type { BeforeCall, ToolCallerParts } from '../calls/call-parts.ts';
import { createToolCaller } from '../calls/tool-caller.ts';
import { createCapabilityTable } from '../capabilities/capability-table.ts';
import type { TellResourceChange } from '../capabilities/resources.ts';
import { buildBorderView } from '../capabilities/view.ts';
import { createToolGenerator } from '../loop/generate-with-tools.ts';
import { createTextGenerator } from '../models/text-generator.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import { findRefusedBuiltin } from '../plugins/compile/specifiers.ts';
import type { Tracer } from '../plugins/diagnostics/trace.ts';
import type { PluginSupervisorControls } from '../plugins/supervisor.ts';
import { createSearchIndex } from '../tools/search/search-index.ts';
import type { UnitRegistry } from '../units/unit-registry.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { EscalationRules } from './escalation-rules.ts';
import type { Foundation } from './foundation.ts';
import type { Tools } from './tools.ts';
import type { OpenModels } from './upstreams.ts';

/** What a call passes through on its way. */
export interface CallNeeds
  extends OpenEngines,
    Pick<Consents, 'approvals' | 'uses' | 'audit'>,
    Omit<Tools, 'news'>,
    Pick<OpenModels, 'catalog' | 'upstreams'> {
  readonly units: UnitRegistry;
  readonly names: NameRegistry;
  readonly escalationRules: EscalationRules;
  readonly plugins: PluginSupervisorControls;
  readonly tracer: Tracer;
  /** The hooks; asked for with the first call. */
  readonly beforeCall: () => BeforeCall;
}

/** What every call journey of the daemon shares. */
export type Journey = Pick<
  ToolCallerParts,
  'store' | 'events' | 'capabilities' | 'approvals' | 'readView' | 'noteUse' | 'redactor' | 'onFault'
>;

const noValues: Readonly<Record<string, unknown>> = Object.freeze({});

/** Opens the capabilities and what calls tools with them. */
export function openCalls(
  foundation: Foundation,
  needs: CallNeeds,
): {
  readonly caller: ReturnType<typeof createToolCaller>;
  readonly capabilities: ReturnType<typeof createCapabilityTable>;
  readonly journey: Journey;
  readonly metaTools: MetaToolParts;
  readonly tellResourceChange: TellResourceChange;
} {
  const { config, closers, store, events, secrets, resolver, logFault } = foundation;
  const {
    engines,
    commands,
    registry,
    offered,
    units,
    names,
    escalationRules,
    plugins,
    tracer,
    approvals,
    uses,
    audit,
    beforeCall,
  } = needs;
  const { catalog, upstreams } = needs;
  const callerOf = (executionId: string) => caller.nested.callerOf(executionId);
  const models = createTextGenerator({ settings: config.models, catalog, upstreams, callerOf });
  const toolPort = createToolPort({ registry, nested: () => caller.nested });
  const tellResourceChange: TellResourceChange = (unitPath, uri) => {
    const found = registry.offerings.findResource(uri, ({ served }) => served.unit.path === unitPath);
    if (found === undefined) return false;
    const { name } = found.entry.offering;
    events.publish('resource-update', { subject: name, data: { uri, name } });
    return true;
  };
  const capabilities = createCapabilityTable({
    config,
    store,
    secrets,
    runCommand: commands.run,
    models,
    generateWithTools: createToolGenerator({ upstreams, callerOf, redactor: secrets.redactor }),
    approvals,
    tools: toolPort,
    tellResourceChange,
    ...(resolver === undefined ? {} : { resolver }),
    logFault: (id, error) => logFault(error, id),
  });
  closers.push(() => capabilities.close());
  const journey: Journey = {
    store,
    events,
    capabilities,
    approvals,
    readView: ({ unit: { manifest, path: unitPath, author }, granted }, use) =>
      buildBorderView({
        pluginName: manifest.name,
        own: names.findSetting(unitPath, config.plugins) ?? noValues,
        ownKey: () => names.settingKeyOf(unitPath) ?? basename(unitPath),
        isOperators: author === 'operator',
        requested: manifest.permissions,
        granted: granted(use),
        config,
        processEnv: process.env,
        secrets,
        executionId: use.executionId,
      }),
    noteUse({ unit }, { granted, permission, detail, allowed, isGiven, record }) {
      if (allowed) uses.note(unit.path, granted, permission, detail);
      const { id: executionId, caller: callerId, plugin, tool } = record;
      const use = { executionId, caller: callerId, plugin, tool, permission, detail, allowed };
      if (isGiven) audit.noteGiven(use);
      else audit.note(use);
    },
    redactor: secrets.redactor,
    onFault: (error, executionId) => logFault(error, executionId),
  };
  const caller = createToolCaller({
    ...journey,
    config,
    registry,
    settings: needs.settings,
    switches: needs.switches,
    toolUses: needs.toolUses,
    engines,
    limitsOf: (unitPath) => names.findSetting(unitPath, config.pluginLimits),
    beforeCall: { wants: (entry) => beforeCall().wants(entry), ask: (question) => beforeCall().ask(question) },
    findServable: units.findServable,
    escalation: {
      engines: escalationRules.engines,
      escalationOf: escalationRules.escalationOf,
      findNeed: findRefusedBuiltin,
      ask: plugins.wantEngine,
      build: async (unit, engine) => (engines[engine] === undefined ? undefined : plugins.buildForEngine(unit, engine)),
    },
    explainError: tracer.explain,
  });
  closers.push(() => caller.close());
  const metaTools = {
    offered,
    index: createSearchIndex(),
    call: toolPort.call,
    callerOf: (id: string) => caller.nested.callerOf(id),
  };
  return { caller, capabilities, journey, metaTools, tellResourceChange };
}
