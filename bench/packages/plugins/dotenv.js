import dotenv from 'dotenv';

export default {
  version: '1.0.0',
  description: 'Uses dotenv. Use to see that the package works.',
  async handler() {
    return [dotenv.parse('A=1\nB="two words"\n# c\n'), 'parsed' in dotenv.config({ quiet: true })];
  },
  examples: [{ args: {}, expect: [{ A: '1', B: 'two words' }, true] }],
};
