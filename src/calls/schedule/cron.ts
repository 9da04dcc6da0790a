/** When something happens again: minutes, hours, days of the month, months and weekdays of UTC. */
export type CronTimes = readonly ReadonlySet<number>[];

const fields = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12 },
  { min: 0, max: 7 },
] as const;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** A day that comes every four years is found; one that never comes is given up. */
const maxDays = 4 * 366 + 1;

/** Reads five fields: `*`, numbers, ranges, lists and steps. Undefined for what is none. */
export function parseCron(text: string): CronTimes | undefined {
  const words = text.trim().split(/\s+/);
  if (words.length !== fields.length) return undefined;
  const sets = fields.map((field, index) => readField(words[index] ?? '', field));
  const known = sets.filter((set) => set !== undefined);
  if (known.length !== fields.length) return undefined;
  // Sunday has two numbers.
  if (known[4]?.has(7)) known[4].add(0);
  return known;
}

/** The first minute after `afterMs` that fits; undefined where none comes. */
export function nextCronTime([minutes, hours, days, months, weekdays]: CronTimes, afterMs: number): number | undefined {
  const first = (Math.floor(afterMs / minuteMs) + 1) * minuteMs;
  for (let day = 0; day < maxDays; day++) {
    const start = Math.floor(first / dayMs) * dayMs + day * dayMs;
    const date = new Date(start);
    const isDay = days?.has(date.getUTCDate()) && months?.has(date.getUTCMonth() + 1) && weekdays?.has(date.getUTCDay());
    if (!isDay) continue;
    for (let minute = 0; minute < dayMs / minuteMs; minute++) {
      const at = start + minute * minuteMs;
      if (at >= first && hours?.has(Math.floor(minute / 60)) && minutes?.has(minute % 60)) return at;
    }
  }
  return undefined;
}

function readField(text: string, { min, max }: { readonly min: number; readonly max: number }): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, from = '', to, step = '1'] = /^(\*|\d{1,2})(?:-(\d{1,2}))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (from === '' || (from === '*' && to !== undefined)) return undefined;
    const low = from === '*' ? min : Number(from);
    const high = from === '*' || (to === undefined && part.includes('/')) ? max : Number(to ?? from);
    if (low < min || high > max || low > high || Number(step) < 1) return undefined;
    for (let value = low; value <= high; value += Number(step)) values.add(value);
  }
  return values;
}
