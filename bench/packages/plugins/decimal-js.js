import Decimal from 'decimal.js';

export default {
  version: '1.0.0',
  description: 'Uses decimal.js. Use to see that the package works.',
  async handler() {
    return new Decimal('0.1').plus('0.2').toString();
  },
  examples: [{ args: {}, expect: '0.3' }],
};
