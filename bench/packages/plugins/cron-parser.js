import { CronExpressionParser } from 'cron-parser';

export default {
  version: '1.0.0',
  description: 'Uses cron-parser. Use to see that the package works.',
  async handler() {
    return CronExpressionParser.parse('0 12 * * *', { currentDate: '2026-01-30T00:00:00Z', tz: 'UTC' }).next().toISOString();
  },
  examples: [{ args: {}, expect: '2026-01-30T12:00:00.000Z' }],
};
