import { addDays, format, parseISO } from 'date-fns';

export default {
  version: '1.0.0',
  description: 'Uses date-fns. Use to see that the package works.',
  async handler() {
    return format(addDays(parseISO('2026-01-30'), 3), 'yyyy-MM-dd');
  },
  examples: [{ args: {}, expect: '2026-02-02' }],
};
