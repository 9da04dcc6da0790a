import { customAlphabet, nanoid } from 'nanoid';

export default {
  version: '1.0.0',
  description: 'Uses nanoid. Use to see that the package works.',
  async handler() {
    return [nanoid().length, customAlphabet('a', 5)()];
  },
  examples: [{ args: {}, expect: [21, 'aaaaa'] }],
};
