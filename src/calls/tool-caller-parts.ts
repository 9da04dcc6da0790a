import type { Recording } from '../border/border.ts';
import type { CapabilityTable } from '../border/capability.ts';
import type { Config } from '../config/config-types.ts';
import type { Limits } from '../config/limits.ts';
import type { EventLog } from '../events/event.ts';
import type { Approvals } from '../permissions/approval-types.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import type { ToolRegistry } from '../tools/tools-api.ts';
import type { BeforeCall } from './accept/before-call.ts';
import type { CallBorderParts } from './attempt/call-border.ts';
import type { Engines } from './attempt/engine-run.ts';
import type { NestedCalls } from './attempt/nested-calls.ts';
import type { RunEscalation } from './attempt/next-attempt.ts';
import type { ExplainGuestError, ToolCaller } from './call-types.ts';
import type { FindServable } from './wait/resume-calls.ts';

/** What the call journey is made of. */
export interface ToolCallerParts {
  readonly config: Pick<
    Config,
    'tools' | 'safeMode' | 'queue' | 'limits' | 'pluginLimits' | 'limitsWithoutGrant' | 'executions' | 'idempotency' | 'workers'
  >;
  /** What the operator laid down for the plugin of a file. */
  readonly limitsOf?: ((pluginPath: string) => Partial<Limits> | undefined) | undefined;
  readonly registry: Pick<ToolRegistry, 'resolve'>;
  readonly engines: Engines;
  readonly store: Store;
  readonly events: EventLog;
  readonly capabilities: Pick<CapabilityTable, 'answer' | 'dial' | 'workspace' | 'endCall'>;
  readonly approvals: Pick<Approvals, 'ask' | 'settled' | 'list' | 'withdrawOf' | 'waitingExecutions'>;
  /** A kept generation, current or not, of a plugin that may serve now; for calls that waited for a person. */
  readonly findServable?: FindServable;
  /** Asked before a call enters: the hooks. */
  readonly beforeCall?: BeforeCall | undefined;
  /** Runs calls again on a higher engine; without it none is. */
  readonly escalation?: RunEscalation | undefined;
  readonly explainError: ExplainGuestError;
  /** What `context.config.get` and `context.env.get` may answer now; called before every slice. Must not throw. */
  readonly readView: CallBorderParts['readView'];
  readonly noteUse?: CallBorderParts['noteUse'];
  /** Takes secrets out of what calls get, log, leave behind and answer. */
  readonly redactor?: Redactor | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  /** How many calls an engine gets at once, those that wait at the border not counted; two a worker and two by default. */
  readonly runnableSlots?: number;
  /** Hears of faults in the daemon itself, with the execution they are logged under. Must not throw. */
  readonly onFault?: (error: unknown, executionId?: string) => void;
}

/** The call journey with what the composition root needs beside it. */
export interface ToolCallerHandle extends ToolCaller {
  /** Calls that running calls make. */
  readonly nested: NestedCalls;
  /**
   * Goes on with the calls that waited for a person when the daemon ended: once when the last run's plugins serve again, and a
   * last time when all are built.
   */
  resume(isLast: boolean): void;
  /** A call that waits for a person began with this generation. */
  needsGeneration(generationId: string): boolean;
  readRecording(executionId: string): Promise<Recording | undefined>;
  /** Drains at once and writes the recordings that wait. */
  close(): Promise<void>;
}
