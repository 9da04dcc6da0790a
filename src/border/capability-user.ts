import type { PermissionSet } from '../config/permission-set.ts';

/** Who uses a capability: one running call. Everything in it was decided by the host, nothing by the guest. */
export interface CapabilityUser {
  readonly executionId: string;
  readonly plugin: string;
  readonly tool: string;
  readonly unitPath: string;
  readonly caller: string;
  /** An admin calls: what is kept for admins is for it too. */
  readonly isAdmin?: boolean;
  readonly session: string;
  /** What the client of the call can be asked for; nothing where its door did not say. */
  readonly clientCan?: readonly ('form' | 'sampling' | 'roots')[] | undefined;
  /** Tools under way above this call, outermost first, this one last: `name@version`. */
  readonly chain: readonly string[];
  /** The executions above this call, outermost first. */
  readonly above?: readonly string[] | undefined;
  /** What is granted now; asked on every use, so that a revocation takes effect inside a running call. */
  readonly granted: () => PermissionSet;
  /** Every public host may be reached, as the operator chose for a tool of the daemon; others only as granted. */
  readonly reachesPublic?: boolean;
  /** Notes one use or denial for the audit. */
  readonly noteUse: (permission: string, detail: string, allowed: boolean) => void;
  /** Stops the clock of the call while a person is asked; the returned function lets it run again. */
  readonly holdClock: () => () => void;
}

/** The daemon itself as a user of capabilities, for a part of it that is called `unit`: what it may do is decided where it is made. */
export function createDaemonUser(unit: string, granted: () => PermissionSet): CapabilityUser {
  return {
    executionId: unit,
    plugin: unit,
    tool: unit,
    unitPath: unit,
    caller: 'local',
    session: '',
    chain: [],
    granted,
    noteUse: () => {},
    holdClock: () => () => {},
  };
}
