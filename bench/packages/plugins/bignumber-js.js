import BigNumber from 'bignumber.js';

export default {
  version: '1.0.0',
  description: 'Uses bignumber.js. Use to see that the package works.',
  async handler() {
    return new BigNumber('123456789012345678901234567890').times(2).toFixed();
  },
  examples: [{ args: {}, expect: '246913578024691357802469135780' }],
};
