import ms from 'ms';

export default {
  version: '1.0.0',
  description: 'Uses ms. Use to see that the package works.',
  async handler() {
    return [ms('2h'), ms(60000)];
  },
  examples: [{ args: {}, expect: [7200000, '1m'] }],
};
