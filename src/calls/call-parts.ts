import type { BorderView } from '../border/border.ts';
import type { CapabilityTable } from '../border/capability.ts';
import type { Caller } from '../callers/caller.ts';
import type { Config, Escalation } from '../config/config-types.ts';
import type { Limits } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { EngineNeed } from '../engines/engine.ts';
import type { EscalationEngine, EscalationEngines } from '../engines/escalation.ts';
import type { EventLog } from '../events/event.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { GrantUse } from '../permissions/select-grants.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ToolSettings } from '../tools/settings/tool-settings.ts';
import type { ToolSwitches } from '../tools/settings/tool-switches.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { ToolUses } from '../tools/tool-uses.ts';
import type { ServedUnit, Unit } from '../units/unit.ts';
import type { UnitContent } from '../units/unit-registry.ts';
import type { ActiveCall } from './active-call.ts';
import type { ExplainGuestError } from './call-types.ts';
import type { Engines } from './runner.ts';

/** What the calls of a daemon are made of. */
export interface ToolCallerParts {
  readonly config: Pick<
    Config,
    'tools' | 'safeMode' | 'queue' | 'limits' | 'pluginLimits' | 'limitsWithoutGrant' | 'executions' | 'idempotency' | 'workers'
  >;
  /** What the operator laid down for the plugin of a file. */
  readonly limitsOf?: ((unitPath: string) => Partial<Limits> | undefined) | undefined;
  readonly registry: Pick<ToolRegistry, 'resolve'>;
  readonly engines: Engines;
  /** What cannot be recorded does not begin. */
  readonly store: Store;
  readonly events: EventLog;
  readonly capabilities: Pick<CapabilityTable, 'answer' | 'leavesTrace' | 'longWait' | 'dial' | 'workspace' | 'endCall'>;
  readonly approvals: Pick<Approvals, 'ask' | 'settled' | 'list' | 'withdrawOf' | 'waitingExecutions'>;
  /** A kept generation, current or not, of a plugin that may serve now; for calls that waited for a person. */
  readonly findServable?: FindServable;
  /** What operators set for single tools and switched off for all, while the daemon runs; without them the config alone decides. */
  readonly settings?: Pick<ToolSettings, 'applyTo'> | undefined;
  readonly switches?: Pick<ToolSwitches, 'isOn'> | undefined;
  readonly toolUses?: Pick<ToolUses, 'note'> | undefined;
  /** Asked before a call enters: the hooks. */
  readonly beforeCall?: BeforeCall | undefined;
  /** Runs calls again on a higher engine; without it none is. */
  readonly escalation?: RunEscalation | undefined;
  readonly explainError: ExplainGuestError;
  /** What `context.config.get` and `context.env.get` may answer now; called before every slice. Must not throw. */
  readonly readView: (served: ServedUnit, use: GrantUse) => BorderView;
  /** Notes a use or a refusal for the audit. Must not throw. */
  readonly noteUse?: ((served: ServedUnit, use: NotedUse) => void) | undefined;
  /** Takes secrets out of what calls get, log, leave behind and answer. */
  readonly redactor?: Redactor | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  /** How many calls an engine gets at once, those that wait at the border not counted; two a worker and two by default. */
  readonly runnableSlots?: number;
  /** Hears of faults in the daemon itself, with the execution they are logged under. Must not throw. */
  readonly onFault?: (error: unknown, executionId?: string) => void;
}

/** What every stage of a call has at hand. */
export interface StageParts extends ToolCallerParts {
  readonly now: () => number;
  readonly onFault: (error: unknown, executionId?: string) => void;
  /** Calls under way, by id: a call is among them from its acceptance to its record. */
  readonly active: ReadonlyMap<string, ActiveCall>;
}

/** A call that would be accepted as it is. */
export interface CallQuestion {
  readonly entry: ToolEntry;
  /** Checked against the tool. */
  readonly arguments: unknown;
  readonly caller: Caller;
  readonly session: string;
  /** The execution that makes this call, for a call within a call. */
  readonly parent: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Checks other arguments against the tool. Throws `arguments-invalid` or `payload-too-large`. */
  readonly check: (args: unknown) => void;
}

/** Is asked about a call before it begins. */
export interface BeforeCall {
  /** False when nobody wants to be asked about this tool: the call goes on at once. */
  wants(entry: ToolEntry): boolean;
  /** The arguments to go on with, which are checked once more. Rejects with the refusal, a HotcellError. */
  ask(question: CallQuestion): Promise<unknown>;
}

/** What decides whether a call may be run again on a higher engine, and makes the code for it. */
export interface RunEscalation {
  engines(): Promise<EscalationEngines>;
  /** What the operator's config says for a plugin. */
  escalationOf(unitPath: string): Escalation;
  /** What the engine of a call did not have, as its error says. */
  findNeed(error: { readonly name?: string; readonly message: string; readonly lacks?: string }): EngineNeed | undefined;
  /** Asks a person to let a plugin have an engine; says how to let it. */
  ask(unit: Unit, engine: EscalationEngine, reason: string): Promise<string | undefined>;
  /** A build of the content of a unit for another engine; undefined when it cannot be had. */
  build(unit: Unit, engine: EscalationEngine): Promise<Unit | undefined>;
}

/** A generation that may still serve, current or not: by its id, or the current one of the same plugin with the same content. */
export type FindServable = (generationId: string, build?: UnitContent) => ServedUnit | undefined;

/** A use of a permission, or a refusal. */
export interface NotedUse {
  readonly granted: PermissionSet;
  readonly permission: string;
  readonly detail: string;
  readonly allowed: boolean;
  /** The call got it without asking: at most one such use a call is told. */
  readonly isGiven?: boolean;
  readonly record: Pick<ActiveCall['record'], 'id' | 'caller' | 'plugin' | 'tool'>;
}
