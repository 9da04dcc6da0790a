import { parse, stringify } from 'yaml';

export default {
  version: '1.0.0',
  description: 'Uses yaml. Use to see that the package works.',
  async handler() {
    return [parse('a: [1, 2]'), stringify({ b: true })];
  },
  examples: [{ args: {}, expect: [{ a: [1, 2] }, 'b: true\n'] }],
};
