import type { FullBound } from '../../concurrency/place-count.ts';
import type { Config } from '../../config/config-types.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { Isolation } from '../../engines/engine.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import { describeGrantCommand } from '../../permissions/permission-words.ts';
import type { ToolFlags, ToolManifest, ToolMode } from '../../units/tool-manifest.ts';
import type { UnitKind } from '../../units/unit.ts';

/** What decides whether a call may enter. */
export interface AdmissionFacts {
  readonly tool: string;
  readonly plugin: string;
  readonly areToolsEnabled: boolean;
  /** False where nothing but the built-in tools of the daemon may run. */
  readonly isCustomEnabled: boolean;
  readonly source: UnitKind;
  readonly isDraining: boolean;
  readonly safeMode: Config['safeMode'];
  readonly mode: ToolMode;
  readonly flags: ToolFlags;
  readonly who: ToolManifest['who'] | undefined;
  readonly role: 'admin' | 'caller';
  readonly isForModel: boolean;
  readonly isolation: Isolation;
  /** Engines that a person must let the plugin have, because it asks for a lower one. */
  readonly needsEngine: PermissionSet['engine'];
  /** Asked for only where it matters. */
  readonly granted: () => PermissionSet;
  /** The bound of the queue that the call would pass. */
  readonly findFull: () => FullBound | undefined;
}

/** Why a call may not enter. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix?: string;
}

/** Decides whether a call may enter; undefined lets it in. The first reason that holds is told. */
export function decideAdmission(facts: AdmissionFacts): Refusal | undefined {
  const { tool, plugin } = facts;
  if (facts.isDraining) return { code: 'shutting-down', message: 'The daemon is stopping and takes no more calls.' };
  if (!facts.areToolsEnabled) return { code: 'tools-disabled', message: 'All tools are switched off.' };
  if (!facts.isCustomEnabled && facts.source !== 'builtin') return refuseCustom(tool);
  if (facts.mode === 'off') {
    const message = `The tool "${tool}" is switched off: its mode is "off".`;
    return { code: 'tool-off', message, fix: `Turn it on: hotcell tool set ${tool} --mode on.` };
  }
  if (facts.safeMode !== 'off' && facts.flags.isDangerous) {
    const message = `The tool "${tool}" is marked isDangerous, and safeMode is "${facts.safeMode}".`;
    return { code: 'tool-off', message, fix: 'Set safeMode to "off" in the config and start again.' };
  }
  if (facts.isForModel && facts.who === 'person') {
    return { code: 'forbidden', message: `The tool "${tool}" is for people (who: "person"): no model calls it.` };
  }
  const refusal = facts.role === 'admin' ? undefined : refuseRole(facts);
  if (refusal !== undefined) return refusal;
  if (facts.isolation === 'plugin' && facts.granted().sharedCell !== true) {
    const message = `"${tool}" keeps one cell for all callers (isolation: "plugin"), which "${plugin}" was not granted.`;
    return {
      code: 'permission-denied',
      message,
      fix: `Allow it with: ${describeGrantCommand(plugin, { sharedCell: true })}`,
    };
  }
  return refuseEngine(facts) ?? refuseFullQueue(facts.findFull());
}

function refuseCustom(tool: string): Refusal {
  const message = `The tool "${tool}" is none of the built-in ones, and nothing else runs here.`;
  return { code: 'tools-disabled', message, fix: 'Set tools.custom to true, or leave builtinsOnly out of the call.' };
}

function refuseEngine({ tool, plugin, needsEngine, granted }: AdmissionFacts): Refusal | undefined {
  const missing = needsEngine?.filter((engine) => granted().engine?.includes(engine) !== true);
  if (missing === undefined || missing.length === 0) return undefined;
  return {
    code: 'permission-denied',
    message: `"${tool}" needs the engine "${missing.join('", "')}", which "${plugin}" may not have any more.`,
    fix: `Allow it with: ${describeGrantCommand(plugin, { engine: missing })}`,
  };
}

function refuseRole({ tool, flags, who }: AdmissionFacts): Refusal | undefined {
  if (flags.isElevated) {
    return { code: 'forbidden', message: `The tool "${tool}" is marked isElevated: only an admin may call it.` };
  }
  if (who === 'person') {
    return { code: 'forbidden', message: `The tool "${tool}" is for people (who: "person"): only an admin may call it.` };
  }
  return undefined;
}

/** How the bounds of the queue are called in a sentence, and where they are set. */
const queueBounds = {
  caller: { whose: ' of one caller', key: 'queue.maxPendingPerCaller' },
  plugin: { whose: ' of one plugin', key: 'queue.maxPending' },
  all: { whose: '', key: 'queue.maxPending' },
};

function refuseFullQueue(full: FullBound | undefined): Refusal | undefined {
  if (full === undefined) return undefined;
  const { whose, key } = queueBounds[full.bound];
  const message = `${full.calls} wait already; at most ${full.max}${whose} may wait.`;
  return { code: 'queue-full', message, fix: `Call again when some of them are over, or raise ${key} in the config.` };
}
