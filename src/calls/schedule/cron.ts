import { Cron } from 'croner';

const names = /^@(?:yearly|annually|monthly|weekly|daily|hourly)$/;

/**
 * The first time after `afterMs` that a cron expression means: minute, hour, day of the month, month and weekday of UTC, where a day
 * that fits one of two restricted fields is enough; or `@daily` and the like. Undefined for what is none, and where no time comes.
 */
export function nextCronTime(text: string, afterMs: number): number | undefined {
  const words = text.trim().split(/\s+/);
  // Croner takes a date, too.
  if (words.length !== 5 && !names.test(text)) return undefined;
  try {
    const cron = new Cron(text, { timezone: 'UTC', mode: '5-part', paused: true });
    return cron.nextRun(new Date(afterMs))?.getTime();
  } catch {
    return undefined;
  }
}
