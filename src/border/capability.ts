import type { Duplex } from 'node:stream';
import type { BorderAnswer, BorderRequest, BorderWorkspace, LongWait } from './border.ts';
import type { CapabilityUser } from './capability-user.ts';
import type { NativeCommand, NativeResult } from './container-command.ts';

/**
 * Carries out one operation. Refuses and fails by throwing a HotcellError, whose message crosses to the guest; any other
 * exception crosses as one fixed sentence with an id.
 */
export type CarryOut = (request: BorderRequest, user: CapabilityUser, signal: AbortSignal) => Promise<CapabilityResult>;

/** One capability: the operations of the border that it answers. */
export interface Capability {
  /** By their names, such as `kv.get`; `agent.*` stands for all that begin so. */
  readonly operations: Readonly<Record<string, CarryOut>>;
  /** Of these the ones that leave no trace: a call that asked for nothing else may be run again from its start. */
  readonly reads?: readonly string[];
  /** Of these the ones for which a call waits long. */
  readonly longWaits?: Readonly<Record<string, LongWait>>;
}

/** `payload` is a JSON value; `body` raw bytes beside it. */
export interface CapabilityResult {
  readonly payload: unknown;
  readonly body?: Uint8Array;
}

/** The table of capabilities: one entry point that the call journey hands to engines. */
export interface CapabilityTable {
  /** Whether an operation leaves a trace: it is not known to only read. */
  leavesTrace(operation: string): boolean;
  /** How an operation is waited for, where that takes long. */
  longWait(operation: string): LongWait | undefined;
  /** Never rejects: what fails is an answer with `ok: false`. */
  answer(request: BorderRequest, user: CapabilityUser, signal: AbortSignal): Promise<BorderAnswer>;
  /** Connects to where the user may go, through the one network check. Rejects with a HotcellError. */
  dial(to: { readonly host: string; readonly port: number }, user: CapabilityUser, signal: AbortSignal): Promise<Duplex>;
  /** The user's workspace, made if need be, and what of it is granted. */
  workspace(user: CapabilityUser): Promise<BorderWorkspace>;
  /** Runs a command in a container for a tool of the daemon itself; no guest can ask for it. */
  native(command: NativeCommand, user: CapabilityUser, signal: AbortSignal): Promise<NativeResult>;
  /** Gives back what a call that is over still holds, such as open responses. Must not throw. */
  endCall(executionId: string): void;
  close(): Promise<void>;
}
