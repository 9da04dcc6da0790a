import { parse } from 'node-html-parser';

export default {
  version: '1.0.0',
  description: 'Uses node-html-parser. Use to see that the package works.',
  async handler() {
    return parse('<ul><li>a</li></ul>').querySelector('li').text;
  },
  examples: [{ args: {}, expect: 'a' }],
};
