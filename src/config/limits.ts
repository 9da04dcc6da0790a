/** One row of the table of limits. */
interface LimitRow {
  readonly default: number;
  readonly max: number;
  readonly about: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The one table of limits that hold for a call: default, upper bound, meaning. A manifest (`limits`, `timeoutMs`) or
 * the config (`limits`, `pluginLimits`) may choose another value up to `max`; the config wins over the manifest.
 */
export const limitTable = {
  wallMs: { default: 30_000, max: 900_000, about: 'wall clock of a call, waiting included, in ms (timeoutMs)' },
  cpuMs: { default: 10_000, max: 300_000, about: 'time on the processor of a call, in ms' },
  memoryBytes: { default: 32 * MIB, max: 96 * MIB, about: 'memory of a cell, in bytes' },
  stackBytes: { default: 256 * KIB, max: 1 * MIB, about: 'stack of the guest, in bytes' },
  argumentBytes: { default: 1 * MIB, max: 16 * MIB, about: 'arguments as JSON, in bytes' },
  outputBytes: { default: 1 * MIB, max: 16 * MIB, about: 'output as JSON, in bytes' },
  logBytes: { default: 256 * KIB, max: 4 * MIB, about: 'log of a call, in bytes' },
  logLines: { default: 1000, max: 20_000, about: 'log of a call, in lines' },
  hostCalls: { default: 1000, max: 100_000, about: 'host calls of a call' },
  pendingHostCalls: { default: 64, max: 1024, about: 'host calls of a call that wait at the same time' },
} as const satisfies Record<string, LimitRow>;

/** The name of one limit. */
export type LimitName = keyof typeof limitTable;

/** A value for every limit, in the unit that its name carries. */
export type Limits = Readonly<Record<LimitName, number>>;

/** What a call gets when nobody chose otherwise. */
export const defaultLimits: Limits = Object.freeze(
  Object.fromEntries(Object.entries(limitTable).map(([name, row]) => [name, row.default])) as Record<LimitName, number>,
);

/** Later choices win; every value is clamped to its upper bound. Values must be positive numbers: callers validate. */
export function resolveLimits(...choices: ReadonlyArray<Partial<Limits> | undefined>): Limits {
  const resolved: Record<LimitName, number> = { ...defaultLimits };
  for (const choice of choices) {
    for (const name of Object.keys(limitTable) as LimitName[]) {
      const value = choice?.[name];
      if (value !== undefined) resolved[name] = Math.min(value, limitTable[name].max);
    }
  }
  return Object.freeze(resolved);
}
