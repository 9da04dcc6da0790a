import * as R from 'ramda';

export default {
  version: '1.0.0',
  description: 'Uses ramda. Use to see that the package works.',
  async handler() {
    return R.pipe(
      R.map((n) => n * 2),
      R.sum,
    )([1, 2, 3]);
  },
  examples: [{ args: {}, expect: 12 }],
};
