import type { ExecutionReader } from '../calls/call-types.ts';
import type { createToolCaller } from '../calls/tool-caller.ts';
import type { NameRegistry } from '../names/name-registry.ts';
import type { Tracer } from '../plugins/diagnostics/trace.ts';
import type { PluginSupervisorControls } from '../plugins/supervisor.ts';
import { createRecordedReader } from '../replay/recorded-execution.ts';
import { createCodeChoice } from '../replay/replay-code.ts';
import type { Replays } from '../replay/replay-types.ts';
import { createReplays, createRunRecorded, type ReplayParts, type RunRecorded } from '../replay/replays.ts';
import { createToolPreparer } from '../tools/prepared-tool.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { createValidatorCache } from '../tools/validation/validator.ts';
import type { UnitRegistry } from '../units/unit-registry.ts';
import type { Consents } from './consents.ts';
import type { OpenEngines } from './engines.ts';
import type { Foundation } from './foundation.ts';

/** What recorded executions are run again with. */
export interface ReplayNeeds extends Pick<OpenEngines, 'engines'>, Pick<Consents, 'grants'> {
  readonly registry: ToolRegistry;
  readonly names: NameRegistry;
  readonly plugins: PluginSupervisorControls;
  readonly units: UnitRegistry;
  readonly tracer: Tracer;
  readonly caller: ReturnType<typeof createToolCaller>;
  readonly executions: ExecutionReader;
}

/** Replays, and what trials need of them. */
export interface OpenReplays {
  readonly replays: Replays;
  readonly runRecorded: RunRecorded;
  readonly readRecorded: ReplayParts['readRecorded'];
  readonly prepare: ReplayParts['prepare'];
}

/** Opens them. */
export function openReplays(
  { config, secrets }: Foundation,
  { engines, registry, names, plugins, units, tracer, caller, executions, grants }: ReplayNeeds,
): OpenReplays {
  const ofConfig = (unitPath: string) => names.findSetting(unitPath, config.pluginLimits);
  const parts: ReplayParts = {
    engines,
    readRecorded: createRecordedReader({
      executions,
      readRecording: caller.readRecording,
      keepPerTool: config.executions.keepRecordingsPerTool,
    }),
    chooseCode: createCodeChoice({ plugins, units, tools: registry, decideGrants: grants.decide }),
    prepare: createToolPreparer(config, createValidatorCache(), ofConfig),
    explainError: tracer.explain,
    redactor: secrets.redactor,
  };
  return {
    replays: createReplays(parts),
    runRecorded: createRunRecorded(parts),
    readRecorded: parts.readRecorded,
    prepare: parts.prepare,
  };
}
