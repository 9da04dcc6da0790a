import { DateTime } from 'luxon';

export default {
  version: '1.0.0',
  description: 'Uses luxon. Use to see that the package works.',
  async handler() {
    return DateTime.fromISO('2026-01-30T10:00:00Z', { zone: 'utc' }).setZone('Europe/Oslo').toFormat('yyyy-MM-dd HH:mm');
  },
  examples: [{ args: {}, expect: '2026-01-30 11:00' }],
};
