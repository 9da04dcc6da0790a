import validator from 'validator';

export default {
  version: '1.0.0',
  description: 'Uses validator. Use to see that the package works.',
  async handler() {
    return [validator.isEmail('a@b.cd'), validator.isURL('x'), validator.escape('<a>')];
  },
  examples: [{ args: {}, expect: [true, false, '&lt;a&gt;'] }],
};
