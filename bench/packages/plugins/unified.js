import remarkParse from 'remark-parse';
import { unified } from 'unified';

export default {
  version: '1.0.0',
  description: 'Uses unified. Use to see that the package works.',
  async handler() {
    return unified().use(remarkParse).parse('# a').children[0].type;
  },
  examples: [{ args: {}, expect: 'heading' }],
};
