import { marked } from 'marked';

export default {
  version: '1.0.0',
  description: 'Uses marked. Use to see that the package works.',
  async handler() {
    return marked.parse('# Title\n\n*text*');
  },
  examples: [{ args: {}, expect: '<h1>Title</h1>\n<p><em>text</em></p>\n' }],
};
