import * as chrono from 'chrono-node';

export default {
  version: '1.0.0',
  description: 'Uses chrono-node. Use to see that the package works.',
  async handler() {
    return chrono.parseDate('2026-01-30 10:00', { instant: new Date(0), timezone: 'UTC' }).toISOString();
  },
  examples: [{ args: {}, expect: '2026-01-30T10:00:00.000Z' }],
};
