import type { Duplex } from 'node:stream';
import type { PermissionSet } from '../config/permission-set.ts';
import type { NativeCommand, NativeResult } from './native-command.ts';

/** What a guest asks a capability for: an operation such as `kv.get`, a JSON text and raw bytes beside it. */
export interface CapabilityRequest {
  /** The number of the question, unique in its execution; the same again after a restart. */
  readonly id?: number;
  readonly op: string;
  readonly payload: string;
  readonly body?: Uint8Array;
}

/** What goes back. A refusal has a stable code and a sentence without host paths. */
export type CapabilityAnswer =
  | { readonly ok: true; readonly payload: string; readonly body?: Uint8Array }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Who uses a capability: one running call. Everything in it was decided by the host, nothing by the guest. */
export interface CapabilityUser {
  readonly executionId: string;
  readonly plugin: string;
  readonly tool: string;
  readonly pluginPath: string;
  readonly caller: string;
  /** An admin calls: what is kept for admins is for it too. */
  readonly isOperator?: boolean;
  readonly session: string;
  /** Tools under way above this call, outermost first, this one last: `name@version`. */
  readonly chain: readonly string[];
  /** What is granted now; asked on every use, so that a revocation takes effect inside a running call. */
  readonly granted: () => PermissionSet;
  /** Notes one use or denial for the audit. */
  readonly noteUse: (permission: string, detail: string, allowed: boolean) => void;
  /** Stops the clock of the call while a person is asked; the returned function lets it run again. */
  readonly holdClock: () => () => void;
}

/** One capability: the operations of the border that it answers. */
export interface Capability {
  readonly name: string;
  /** The operations, such as `kv.get`. */
  readonly operations: readonly string[];
  /**
   * Carries out one operation. Refuses and fails by throwing a HotcellError, whose message crosses to the guest;
   * any other exception crosses as one fixed sentence with an id.
   */
  answer(request: CapabilityRequest, user: CapabilityUser, signal: AbortSignal): Promise<CapabilityResult>;
}

/** `payload` is a JSON value; `body` raw bytes beside it. */
export interface CapabilityResult {
  readonly payload: unknown;
  readonly body?: Uint8Array;
}

/** The table of capabilities: one entry point that the call journey hands to engines. */
export interface CapabilityTable {
  /** Never rejects: what fails is an answer with `ok: false`. */
  answer(request: CapabilityRequest, user: CapabilityUser, signal: AbortSignal): Promise<CapabilityAnswer>;
  /** Connects to where the user may go, through the one network check. Rejects with a HotcellError. */
  dial(to: { readonly host: string; readonly port: number }, user: CapabilityUser, signal: AbortSignal): Promise<Duplex>;
  /** The user's workspace, made if need be, and what of it is granted. */
  workspace(user: CapabilityUser): Promise<{
    readonly dir: string;
    readonly read: readonly string[];
    readonly write: readonly string[];
    /** In bytes: of the whole workspace, and of one file. */
    readonly quotaBytes?: number;
    readonly maxFileBytes?: number;
  }>;
  /** Runs a command in a container for a tool of the daemon itself; no guest can ask for it. */
  native(command: NativeCommand, user: CapabilityUser, signal: AbortSignal): Promise<NativeResult>;
  /** Gives back what a call that is over still holds, such as open responses. Must not throw. */
  endCall(executionId: string): void;
  close(): Promise<void>;
}
