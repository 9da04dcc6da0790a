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
  logLines: { default: 1000, max: 20_000, about: 'log of a call, in lines, and its reports of progress' },
  hostCalls: { default: 1000, max: 100_000, about: 'host calls of a call' },
  pendingHostCalls: { default: 64, max: 1024, about: 'host calls of a call that wait at the same time' },
} as const satisfies Record<string, LimitRow>;

/** The name of one limit. */
export type LimitName = keyof typeof limitTable;

const limitNames = Object.keys(limitTable) as LimitName[];

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
    for (const name of limitNames) {
      const value = choice?.[name];
      if (value !== undefined) resolved[name] = Math.min(value, limitTable[name].max);
    }
  }
  return Object.freeze(resolved);
}

/** One limit as a grant names it: `memoryBytes:100663296`. */
export function writeLimitEntry(name: LimitName, value: number): string {
  return `${name}:${value}`;
}

/** Reads a limit as people write it, also `memoryBytes:96MiB`; undefined for what is none, or is beyond the upper bound. */
export function readLimitEntry(entry: string): { readonly name: LimitName; readonly value: number } | undefined {
  const [, word = '', digits = '', unit = ''] = /^(\w+):(\d{1,12})(KiB|MiB)?$/.exec(entry) ?? [];
  const name = limitNames.find((each) => each === word);
  if (name === undefined || (unit !== '' && !name.endsWith('Bytes'))) return undefined;
  const value = Number(digits) * (unit === 'MiB' ? MIB : unit === 'KiB' ? KIB : 1);
  return value >= 1 && value <= limitTable[name].max ? { name, value } : undefined;
}

/** Of what is chosen, the limits above the default: a plugin that raises them itself asks for a grant. */
export function listRaisedLimits(...choices: ReadonlyArray<Partial<Limits>>): string[] {
  return limitNames.flatMap((name) => {
    const value = Math.max(0, ...choices.map((choice) => choice[name] ?? 0));
    return value > limitTable[name].default ? [writeLimitEntry(name, value)] : [];
  });
}

/** The choices without what is above the default and above all of `allowed`. */
export function holdLimits(choice: Partial<Limits>, allowed: readonly string[]): Partial<Limits> {
  const bounds: Record<LimitName, number> = { ...defaultLimits };
  for (const entry of allowed) {
    const { name, value } = readLimitEntry(entry) ?? {};
    if (name !== undefined && value !== undefined) bounds[name] = Math.max(bounds[name], value);
  }
  const held: Partial<Record<LimitName, number>> = {};
  for (const name of limitNames) {
    const value = choice[name];
    if (value !== undefined) held[name] = Math.min(value, bounds[name]);
  }
  return held;
}
