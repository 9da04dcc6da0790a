import dayjs from 'dayjs';
import utc from 'dayjs/plugin/utc.js';

export default {
  version: '1.0.0',
  description: 'Uses dayjs. Use to see that the package works.',
  async handler() {
    dayjs.extend(utc);
    return dayjs.utc('2026-01-30').add(1, 'month').format('YYYY-MM-DD');
  },
  examples: [{ args: {}, expect: '2026-02-28' }],
};
