import * as yaml from 'js-yaml';

export default {
  version: '1.0.0',
  description: 'Uses js-yaml. Use to see that the package works.',
  async handler() {
    return yaml.load('a:\n  - 1\n  - x\n');
  },
  examples: [{ args: {}, expect: { a: [1, 'x'] } }],
};
