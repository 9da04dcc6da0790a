type Unit = 'years' | 'months' | 'weeks' | 'days' | 'hours' | 'minutes' | 'seconds';

interface Arguments {
  /**
   * add: date + amount of unit. diff: from date to other, in unit. weekday: which day it is, week and day of the year.
   * business_days: working days from date (not counted) to other (counted), without weekends and holidays.
   * add_business_days: date + amount working days. convert: the same instant at another offset. range: every date up to other.
   */
  operation: 'add' | 'diff' | 'weekday' | 'business_days' | 'add_business_days' | 'convert' | 'range';
  /** ISO 8601: 2025-03-01 or 2025-03-01T09:30:00+02:00; without an offset it is UTC. "now" is this moment */
  date: string;
  /** The second date of diff, business_days and range */
  other?: string;
  /** How much to add; may be negative */
  amount?: number;
  /** Unit of amount and of the result of diff; default days */
  unit?: Unit;
  /** Offset from UTC for the result, such as +05:30 or Z; default: the offset that the date was given with */
  offset?: string;
  /** Dates that are no working days, such as 2025-12-25 */
  holidays?: string[];
}

/** An instant with the offset at which it is shown; `isDateOnly` dates are shown without a time. */
interface Moment {
  readonly epochMs: number;
  readonly offsetMinutes: number;
  readonly isDateOnly: boolean;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const fixedUnitMs = { weeks: 7 * dayMs, days: dayMs, hours: 3_600_000, minutes: minuteMs, seconds: 1000 };
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const isoPattern = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?\s*(Z|[+-]\d\d:?\d\d)?)?$/i;
const maxDays = 36_600;

export default {
  name: 'date_math',
  version: '1.0.0',
  description:
    'Exact date arithmetic on ISO dates: add or subtract time, difference, weekday, working days, offsets, ranges. ' +
    'Use for every question that needs a calculation with dates; do not calculate yourself.',
  tags: ['date', 'time'],
  isParallelSafe: true,
  examples: [
    { args: { operation: 'add', date: '2024-01-31', amount: 1, unit: 'months' }, expect: '2024-02-29' },
    { args: { operation: 'diff', date: '2024-02-01', other: '2024-03-01' }, expect: { days: 29 } },
    { args: { operation: 'diff', date: '2020-02-29', other: '2024-02-28', unit: 'years' }, expect: { years: 3 } },
    {
      args: { operation: 'weekday', date: '2024-12-30' },
      expect: { date: '2024-12-30', weekday: 'Monday', isoWeek: '2025-W01', dayOfYear: 365, isLeapYear: true },
    },
    {
      args: { operation: 'business_days', date: '2024-12-23', other: '2024-12-30', holidays: ['2024-12-25', '2024-12-26'] },
      expect: { businessDays: 3 },
    },
    { args: { operation: 'add_business_days', date: '2024-12-20', amount: 1 }, expect: '2024-12-23' },
    { args: { operation: 'convert', date: '2024-06-01T12:00:00Z', offset: '+05:30' }, expect: '2024-06-01T17:30:00+05:30' },
    { args: { operation: 'range', date: '2024-02-28', other: '2024-03-01' }, expect: ['2024-02-28', '2024-02-29', '2024-03-01'] },
  ],
  handler: (args: Arguments) => {
    const date = withOffset(parseMoment(args.date), args.offset);
    const { unit = 'days' } = args;
    switch (args.operation) {
      case 'add':
        return formatMoment(addTime(date, requireAmount(args), unit));
      case 'diff':
        return { [unit]: differ(date, requireOther(args), unit) };
      case 'weekday':
        return describeDay(date);
      case 'business_days':
        return { businessDays: countBusinessDays(date, requireOther(args), args.holidays) };
      case 'add_business_days':
        return formatMoment(addBusinessDays(date, requireAmount(args), args.holidays));
      case 'convert':
        return formatMoment({ ...date, isDateOnly: false });
      case 'range':
        return listDays(date, requireOther(args));
    }
  },
};

function parseMoment(text: string): Moment {
  if (text.trim().toLowerCase() === 'now') return { epochMs: Date.now(), offsetMinutes: 0, isDateOnly: false };
  const match = isoPattern.exec(text.trim());
  if (!match)
    throw new RangeError(`Expected an ISO 8601 date such as 2025-03-01 or 2025-03-01T09:30:00+02:00, and got "${text}".`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const millisecond = Number((match[7] ?? '0').padEnd(3, '0'));
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
  const local = new Date(localMs);
  // Date rolls 30 February over to March; a date that does not come back as it went in does not exist.
  const exists = local.getUTCMonth() === month - 1 && local.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!exists) throw new RangeError(`"${text}" does not exist in the calendar.`);
  const offsetMinutes = parseOffset(match[8] ?? 'Z');
  return { epochMs: localMs - offsetMinutes * minuteMs, offsetMinutes, isDateOnly: match[4] === undefined };
}

function parseOffset(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const match = /^([+-])(\d\d):?(\d\d)$/.exec(text.trim());
  const minutes = match ? Number(match[2]) * 60 + Number(match[3]) : Number.NaN;
  if (!(minutes <= 18 * 60))
    throw new RangeError(`Expected an offset such as +02:00 or Z, and got "${text}"; zone names are not known here.`);
  return match?.[1] === '-' ? -minutes : minutes;
}

function withOffset(moment: Moment, offset: string | undefined): Moment {
  return offset === undefined ? moment : { ...moment, offsetMinutes: parseOffset(offset) };
}

/** The calendar fields at the moment's own offset, in a Date whose UTC getters return them. */
function toLocal(moment: Moment): Date {
  return new Date(moment.epochMs + moment.offsetMinutes * minuteMs);
}

function fromLocal(local: Date, like: Moment): Moment {
  return { ...like, epochMs: local.getTime() - like.offsetMinutes * minuteMs };
}

function formatMoment(moment: Moment): string {
  const local = toLocal(moment);
  if (Number.isNaN(local.getTime())) throw new RangeError('The result is outside of the years that can be written.');
  const iso = local.toISOString();
  if (moment.isDateOnly && local.getTime() % dayMs === 0) return iso.slice(0, 10);
  return iso.replace('.000', '').replace('Z', formatOffset(moment.offsetMinutes));
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.abs(minutes);
  const pad = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${pad(size / 60)}:${pad(size % 60)}`;
}

/** Months and years keep the day of the month where there is one, else take the last: 31 January + 1 month is 28 or 29 February. */
function addTime(moment: Moment, amount: number, unit: Unit): Moment {
  if (unit !== 'months' && unit !== 'years') return { ...moment, epochMs: moment.epochMs + amount * fixedUnitMs[unit] };
  if (!Number.isInteger(amount)) throw new RangeError(`A whole number of ${unit} is needed, and got ${amount}.`);
  const local = toLocal(moment);
  const day = local.getUTCDate();
  local.setUTCDate(1);
  local.setUTCMonth(local.getUTCMonth() + amount * (unit === 'years' ? 12 : 1));
  const lastDay = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
  local.setUTCDate(Math.min(day, lastDay));
  return fromLocal(local, moment);
}

/** Whole calendar months and years that have passed; other units may have a fraction. */
function differ(from: Moment, to: Moment, unit: Unit): number {
  if (unit !== 'months' && unit !== 'years') {
    return Math.round(((to.epochMs - from.epochMs) / fixedUnitMs[unit]) * 1e6) / 1e6;
  }
  if (to.epochMs < from.epochMs) return -differ(to, from, unit) || 0;
  const start = toLocal(from);
  const end = toLocal({ ...to, offsetMinutes: from.offsetMinutes });
  let months = (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth();
  if (addTime(from, months, 'months').epochMs > to.epochMs) months -= 1;
  return unit === 'months' ? months : Math.trunc(months / 12);
}

function describeDay(moment: Moment) {
  const local = toLocal(moment);
  const year = local.getUTCFullYear();
  const dayStart = Date.UTC(year, local.getUTCMonth(), local.getUTCDate());
  return {
    date: local.toISOString().slice(0, 10),
    weekday: weekdays[local.getUTCDay()],
    isoWeek: formatIsoWeek(dayStart),
    dayOfYear: (dayStart - Date.UTC(year, 0, 1)) / dayMs + 1,
    isLeapYear: new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1,
  };
}

/** ISO 8601: a week belongs to the year of its Thursday. */
function formatIsoWeek(dayStart: number): string {
  const weekday = (new Date(dayStart).getUTCDay() + 6) % 7;
  const thursday = new Date(dayStart + (3 - weekday) * dayMs);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * dayMs)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

function isBusinessDay(dayStart: number, holidays: ReadonlySet<string>): boolean {
  const date = new Date(dayStart);
  return date.getUTCDay() % 6 !== 0 && !holidays.has(date.toISOString().slice(0, 10));
}

function countBusinessDays(from: Moment, to: Moment, holidays: string[] = []): number {
  const [start, end] = [startOfDay(from), startOfDay(to)];
  const [first, last] = start <= end ? [start, end] : [end, start];
  requireShort(first, last);
  const free = new Set(holidays);
  let count = 0;
  for (let day = first + dayMs; day <= last; day += dayMs) if (isBusinessDay(day, free)) count += 1;
  return start <= end ? count : -count || 0;
}

function addBusinessDays(moment: Moment, amount: number, holidays: string[] = []): Moment {
  if (!Number.isInteger(amount) || Math.abs(amount) > maxDays) {
    throw new RangeError(`Expected a whole number of days up to ${maxDays}, and got ${amount}.`);
  }
  const free = new Set(holidays);
  const step = amount < 0 ? -dayMs : dayMs;
  let [left, day] = [Math.abs(amount), startOfDay(moment)];
  const limit = day + step * 4 * maxDays;
  while (left > 0 && day !== limit) {
    day += step;
    if (isBusinessDay(day, free)) left -= 1;
  }
  return fromLocal(new Date(toLocal(moment).getTime() + day - startOfDay(moment)), moment);
}

function listDays(from: Moment, to: Moment): string[] {
  const [first, last] = [startOfDay(from), startOfDay(to)];
  requireShort(first, last);
  const days: string[] = [];
  for (let day = first; day <= last; day += dayMs) days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}

function startOfDay(moment: Moment): number {
  const local = toLocal(moment).getTime();
  return local - (((local % dayMs) + dayMs) % dayMs);
}

function requireShort(first: number, last: number): void {
  if ((last - first) / dayMs > maxDays) throw new RangeError(`The dates may be at most ${maxDays} days apart.`);
}

function requireOther({ operation, other, offset }: Arguments): Moment {
  if (other === undefined) throw new TypeError(`"${operation}" needs a second date in "other".`);
  return withOffset(parseMoment(other), offset);
}

function requireAmount({ operation, amount }: Arguments): number {
  if (amount === undefined) throw new TypeError(`"${operation}" needs a number in "amount".`);
  return amount;
}
