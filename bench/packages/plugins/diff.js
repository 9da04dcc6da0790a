import { createPatch, diffWords } from 'diff';

export default {
  version: '1.0.0',
  description: 'Uses diff. Use to see that the package works.',
  async handler() {
    return [diffWords('a b', 'a c').length, createPatch('f', 'a\n', 'b\n').includes('+b')];
  },
  examples: [{ args: {}, expect: [3, true] }],
};
