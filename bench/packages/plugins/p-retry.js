import pRetry from 'p-retry';

export default {
  version: '1.0.0',
  description: 'Uses p-retry. Use to see that the package works.',
  async handler() {
    let tries = 0;
    return await pRetry(
      async () => {
        if (++tries < 2) throw new Error('again');
        return tries;
      },
      { retries: 3, minTimeout: 1 },
    );
  },
  examples: [{ args: {}, expect: 2 }],
};
