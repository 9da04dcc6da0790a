import type { Execution } from '../calls/call-types.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { GrantDecision } from '../permissions/decision.ts';
import type { Asking } from '../permissions/grant-registry.ts';
import type { Generation } from '../plugins/generations/generation.ts';
import type { UnsavedBuild } from '../plugins/supervisor/build/unsaved-build.ts';
import type { PluginSupervisor } from '../plugins/supervisor-types.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { makeOfferingEntry, makeToolEntry, type ToolEntry } from '../tools/tool-types.ts';
import { callNameOf, listOfferings } from '../units/offering.ts';
import type { ServedUnit } from '../units/unit.ts';
import type { UnitRegistry } from '../units/unit-registry.ts';
import { notReplayable } from './recorded-execution.ts';
import type { ReplayOn } from './replay-types.ts';

/** The code that an execution runs again on. */
export interface ChosenCode {
  readonly entry: ToolEntry;
  /** It is what the execution ran on. */
  readonly isSameCode: boolean;
  /** Forgets what was built for this alone. Must be called. */
  readonly release: () => void;
}

/** Where code is found. */
export interface ReplayCodeParts {
  readonly plugins: Pick<PluginSupervisor, 'pathOf' | 'generations' | 'findGeneration' | 'propose'>;
  readonly units: Pick<UnitRegistry, 'findServable'>;
  readonly tools: Pick<ToolRegistry, 'list' | 'offerings'>;
  readonly decideGrants: (asking: Asking) => GrantDecision;
}

/** Creates the choice of code. Throws `not-replayable`, `generation-unknown`, `reload-failed` for a text that does not build. */
export function createCodeChoice(
  parts: ReplayCodeParts,
): (execution: Execution, on: ReplayOn, signal: AbortSignal) => Promise<ChosenCode> {
  const { plugins, units, tools, decideGrants } = parts;

  const serve = (unit: Generation) => serveAside(unit, () => decideGrants(unit).granted);

  /** The tool of the same unit that serves now, else the state of it that the execution ran on. */
  function findCurrent({ generation, plugin, tool }: Execution): ServedUnit | undefined {
    const was = units.findServable(generation);
    const isIts = (entry: ToolEntry): boolean =>
      entry.name === tool && (was === undefined ? entry.plugin === plugin : entry.served.unit.path === was.unit.path);
    return tools.list().find(isIts)?.served ?? was;
  }

  function findKept(plugin: string, generation: string): ServedUnit {
    const kept = plugins.generations(plugin);
    const meant = kept.find(({ number, contentHash }) => String(number) === generation || contentHash.startsWith(generation));
    const found = meant && plugins.findGeneration(meant.id);
    if (found) return serve(found);
    const listed = kept.map(({ number, contentHash }) => `${number} (${contentHash.slice(0, 12)})`).join(', ');
    throw new HotcellError(
      'generation-unknown',
      `"${plugin}" has no kept generation ${generation}. There is: ${listed || 'none'}.`,
      { fix: `See hotcell plugin history ${plugin}.` },
    );
  }

  async function buildText(plugin: string, text: string, signal: AbortSignal): Promise<UnsavedBuild & { served: ServedUnit }> {
    const built = await plugins.propose(plugin, text, signal);
    if (built.generation) return { ...built, served: serve(built.generation) };
    const { code, message, fix } = built.diagnostic;
    throw new HotcellError('reload-failed', `The text does not build (${code}): ${message}`, { fix });
  }

  return async (execution, on, signal) => {
    const { plugin, tool, generation } = execution;
    if (on.text !== undefined && on.generation !== undefined) {
      throw new HotcellError('usage-wrong', 'A replay runs on a generation or on a text, not on both.');
    }
    const built = on.text === undefined ? undefined : await buildText(plugin, on.text, signal);
    const release = built?.release ?? (() => {});
    const served = built?.served ?? (on.generation === undefined ? findCurrent(execution) : findKept(plugin, on.generation));
    const entry = served && findRecordedTool(served, tool);
    if (entry) return { entry, isSameCode: served.unit.id === generation, release };
    release();
    throw served
      ? notReplayable(`The code has no tool "${tool}".`)
      : notReplayable(
          `Nothing that serves now has the tool "${tool}" of "${plugin}".`,
          'Name a kept generation: hotcell replay ID --generation NUMBER',
        );
  };
}

/** A generation for runs outside of the call journey: nobody drains it. */
export function serveAside(unit: Generation, granted: () => PermissionSet): ServedUnit {
  return { unit, granted, lease: () => () => {} };
}

/** A tool, prompt or resource of a unit, by the name under which its calls are recorded. */
export function findRecordedTool(served: ServedUnit, name: string): ToolEntry | undefined {
  const tool = served.unit.manifest.tools.find((each) => each.name === name);
  if (tool) return makeToolEntry(tool, served);
  const offering = listOfferings(served.unit.manifest).find((each) => callNameOf(each) === name);
  return offering && makeOfferingEntry(offering, served);
}
