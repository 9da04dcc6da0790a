import hash from 'object-hash';

export default {
  version: '1.0.0',
  description: 'Uses object-hash. Use to see that the package works.',
  async handler() {
    return hash({ b: 1, a: 2 }) === hash({ a: 2, b: 1 });
  },
  examples: [{ args: {}, expect: true }],
};
