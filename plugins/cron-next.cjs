// An OrcBot plugin as it is: CommonJS, `usage` for a schema, loosely typed arguments.
const names = {
  month: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  weekday: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};
const shorthands = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};
const minuteMs = 60_000;

module.exports = {
  name: 'cron_next',
  version: '1.0.0',
  description:
    'Answers the next times (UTC) at which a cron expression of five fields fires. Use for checking or explaining a schedule.',
  usage: 'cron_next(expression, from?, count?: number)',
  isParallelSafe: true,
  examples: [
    {
      args: { expression: '30 9 * * mon-fri', from: '2024-05-03T10:00:00Z', count: 2 },
      expect: ['2024-05-06T09:30:00Z', '2024-05-07T09:30:00Z'],
    },
    { args: { expression: '0 0 29 2 *', from: '2024-03-01T00:00:00Z', count: 1 }, expect: ['2028-02-29T00:00:00Z'] },
    {
      args: { expression: '*/20 0 1 * *', from: '2024-01-01T00:00:00Z', count: 2 },
      expect: ['2024-01-01T00:20:00Z', '2024-01-01T00:40:00Z'],
    },
  ],
  handler: (args) => {
    const schedule = parseExpression(String(args.expression ?? ''));
    const start = args.from === undefined ? Date.now() : Date.parse(String(args.from));
    if (Number.isNaN(start)) throw new Error(`Expected an ISO date in "from", and got "${args.from}".`);
    return findTimes(schedule, start, Math.min(Math.max(Number(args.count ?? 5), 1), 100));
  },
};

function parseExpression(expression) {
  const text = shorthands[expression.trim().toLowerCase()] ?? expression.trim();
  const fields = text.split(/\s+/);
  if (fields.length !== 5) {
    throw new Error(
      `Expected five fields (minute hour day month weekday), and got ${text === '' ? 0 : fields.length} in "${text}".`,
    );
  }
  const [minute, hour, day, month, weekday] = fields;
  return {
    minutes: parseField(minute, { name: 'minute', min: 0, max: 59 }),
    hours: parseField(hour, { name: 'hour', min: 0, max: 23 }),
    days: parseField(day, { name: 'day', min: 1, max: 31 }),
    months: parseField(month, { name: 'month', min: 1, max: 12 }),
    // Sunday is 0 and 7.
    weekdays: new Set([...parseField(weekday, { name: 'weekday', min: 0, max: 7 })].map((value) => value % 7)),
    // Cron's old rule: when both are restricted, either may match.
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  };
}

function parseField(text, field) {
  const values = new Set();
  for (const part of text.split(',')) {
    const match = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part);
    if (!match) throw new Error(`The ${field.name} "${part}" is not written as *, 5, 1-5, */10 or a list of these.`);
    const [, from, to, step] = match;
    const first = from === '*' ? field.min : parseValue(from, field);
    const last = to !== undefined ? parseValue(to, field) : from === '*' || step !== undefined ? field.max : first;
    if (first > last || Number(step ?? 1) < 1) throw new Error(`The ${field.name} "${part}" covers nothing.`);
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function parseValue(text, field) {
  const list = names[field.name] ?? [];
  const named = list.indexOf(text.toLowerCase());
  const value = named === -1 ? Number(text) : named + field.min;
  if (!Number.isInteger(value) || value < field.min || value > field.max) {
    throw new Error(`The ${field.name} "${text}" must be from ${field.min} to ${field.max}.`);
  }
  return value;
}

/** Steps by whole months, days and hours where they do not match, so rare schedules are found quickly. */
function findTimes(schedule, start, count) {
  const times = [];
  const time = new Date(Math.floor(start / minuteMs) * minuteMs + minuteMs);
  const lastYear = time.getUTCFullYear() + 40;
  while (times.length < count && time.getUTCFullYear() <= lastYear) {
    if (!schedule.months.has(time.getUTCMonth() + 1)) time.setTime(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1));
    else if (!matchesDay(schedule, time)) time.setUTCHours(24, 0);
    else if (!schedule.hours.has(time.getUTCHours())) time.setUTCHours(time.getUTCHours() + 1, 0);
    else {
      if (schedule.minutes.has(time.getUTCMinutes())) times.push(time.toISOString().replace('.000', ''));
      time.setUTCMinutes(time.getUTCMinutes() + 1);
    }
  }
  if (times.length === 0) throw new Error('This schedule never fires.');
  return times;
}

function matchesDay(schedule, time) {
  const byDay = schedule.days.has(time.getUTCDate());
  const byWeekday = schedule.weekdays.has(time.getUTCDay());
  return schedule.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}
