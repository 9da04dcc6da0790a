import { describe, expect, it } from 'vitest';
import { nextCronTime } from '../../../src/calls/schedule/cron.ts';

const next = (text: string, after: string): string | undefined => {
  const at = nextCronTime(text, Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('nextCronTime', () => {
  it.each([
    ['* * * * *', '2026-11-22T10:00:00Z', '2026-11-22T10:01:00.000Z'],
    ['* * * * *', '2026-11-22T10:00:59.999Z', '2026-11-22T10:01:00.000Z'],
    ['*/15 * * * *', '2026-11-22T10:46:00Z', '2026-11-22T11:00:00.000Z'],
    ['0 8 * * 1-5', '2026-11-21T09:00:00Z', '2026-11-23T08:00:00.000Z'],
    ['30 6 1,15 * *', '2026-11-22T00:00:00Z', '2026-12-01T06:30:00.000Z'],
    ['0 0 29 2 *', '2026-11-22T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 * * 7', '2026-11-22T00:00:00Z', '2026-11-29T00:00:00.000Z'],
    ['5-59/20 23 31 12 *', '2026-11-22T00:00:00Z', '2026-12-31T23:05:00.000Z'],
    ['0 0 13 * 5', '2026-11-22T00:00:00Z', '2026-11-27T00:00:00.000Z'],
    ['0 0 13 * MON', '2026-12-08T00:00:00Z', '2026-12-13T00:00:00.000Z'],
    ['@daily', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00.000Z'],
  ])('of %s after %s is %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it('gives up on a day that never comes', () => {
    expect(next('0 0 30 2 *', '2026-11-22T00:00:00Z')).toBeUndefined();
  });
});

describe('what is no cron expression', () => {
  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
    '1- * * * *',
    '@reboot',
    '2026-12-01T00:00:00Z',
    '*-5 * * * *',
    '-1 * * * *',
  ])('%j', (text) => {
    expect(nextCronTime(text, 0)).toBeUndefined();
  });
});
