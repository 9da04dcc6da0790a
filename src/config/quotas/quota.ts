/** How many of something may be held: by one caller, of one plugin, by all together; and beyond that by admins alone. */
export interface PlaceBounds {
  readonly perCaller: number;
  readonly perPlugin: number;
  readonly inAll: number;
  readonly reserve: number;
}

/** Splits what there is so that one caller leaves some to another of the same plugin, and one plugin some to others. */
export function sharePlaces(inAll: number): PlaceBounds {
  const spare = Math.max(1, Math.floor(inAll / 4));
  const perPlugin = Math.max(1, inAll - spare);
  return { perCaller: Math.max(1, perPlugin - spare), perPlugin, inAll, reserve: spare };
}

/** The same for what there is a lot of: nobody but admins has the last tenth for himself. */
export function shareQueue(inAll: number): PlaceBounds {
  const spare = Math.floor(inAll / 10);
  return { perCaller: inAll - spare, perPlugin: inAll - Math.floor(spare / 2), inAll, reserve: Math.max(1, spare) };
}

/** Threads for WebAssembly beside those that one caller may have (`workers.max`). */
export const spareExtismThreads = 2;

/** Of what waiting cells hold in one place, one caller has three quarters at most, and the last eighth is for admins. */
export function shareWaiting(inAll: number) {
  return { perCaller: (inAll / 4) * 3, inAll, reserve: inAll / 8 };
}

/** What a quota counts. */
export type BudgetUnit =
  | 'bytes'
  | 'calls'
  | 'cells'
  | 'connections'
  | 'sessions'
  | 'events'
  | 'keys'
  | 'ms'
  | 'places'
  | 'questions'
  | 'rows'
  | 'tickets'
  | 'tokens';

/** One thing that callers can hold. A bound that is left out does not exist; the others always hold together. */
export interface Quota {
  /** What is held, in the words of the page. */
  readonly holds: string;
  readonly unit: BudgetUnit;
  /** Of one call, connection or plugin and caller together: `each` says of what. */
  readonly each?: { readonly of: string; readonly max: number };
  readonly perCaller?: number;
  readonly perPlugin?: number;
  readonly inAll?: number;
  /** Kept for admins: others never come nearer to `inAll` than this, or it lies beyond `inAll` where `atBound` says so. */
  readonly reserve?: number;
  /** What whoever passes the bound gets. */
  readonly atBound: string;
  /** The keys of the config that change it. */
  readonly settings?: readonly string[];
  /** Files in `test/` that reach the bound. */
  readonly tests: readonly string[];
}

export const MIB = 1024 * 1024;

/** What one browser may be. */
export const browserBounds = { maxPages: 4, maxProcesses: 32, maxMemoryBytes: 1024 * MIB } as const;
