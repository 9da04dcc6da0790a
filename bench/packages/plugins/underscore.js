import _ from 'underscore';

export default {
  version: '1.0.0',
  description: 'Uses underscore. Use to see that the package works.',
  async handler() {
    return _.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even'));
  },
  examples: [{ args: {}, expect: { odd: [1, 3], even: [2] } }],
};
