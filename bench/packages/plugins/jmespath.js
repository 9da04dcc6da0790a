import jmespath from 'jmespath';

export default {
  version: '1.0.0',
  description: 'Uses jmespath. Use to see that the package works.',
  async handler() {
    return jmespath.search({ a: [{ b: 1 }, { b: 2 }] }, 'a[*].b');
  },
  examples: [{ args: {}, expect: [1, 2] }],
};
