import PQueue from 'p-queue';

export default {
  version: '1.0.0',
  description: 'Uses p-queue. Use to see that the package works.',
  async handler() {
    const queue = new PQueue({ concurrency: 1 });
    return await queue.addAll([async () => 1, async () => 2]);
  },
  examples: [{ args: {}, expect: [1, 2] }],
};
