import { Chalk } from 'chalk';

export default {
  version: '1.0.0',
  description: 'Uses chalk. Use to see that the package works.',
  async handler() {
    return [new Chalk({ level: 1 }).red('a'), new Chalk({ level: 0 }).red('a')];
  },
  examples: [{ args: {}, expect: ['\u001b[31ma\u001b[39m', 'a'] }],
};
