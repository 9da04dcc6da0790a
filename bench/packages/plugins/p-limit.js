import pLimit from 'p-limit';

export default {
  version: '1.0.0',
  description: 'Uses p-limit. Use to see that the package works.',
  async handler() {
    const limit = pLimit(2);
    return await Promise.all([1, 2, 3].map((n) => limit(async () => n * 2)));
  },
  examples: [{ args: {}, expect: [2, 4, 6] }],
};
