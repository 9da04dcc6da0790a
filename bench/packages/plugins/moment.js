import moment from 'moment';

export default {
  version: '1.0.0',
  description: 'Uses moment. Use to see that the package works.',
  async handler() {
    return moment.utc('2026-01-30').add(1, 'month').format('YYYY-MM-DD');
  },
  examples: [{ args: {}, expect: '2026-02-28' }],
};
