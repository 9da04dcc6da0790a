import Bluebird from 'bluebird';

export default {
  version: '1.0.0',
  description: 'Uses bluebird. Use to see that the package works.',
  async handler() {
    return await Bluebird.map([1, 2], async (n) => n + 1, { concurrency: 1 });
  },
  examples: [{ args: {}, expect: [2, 3] }],
};
