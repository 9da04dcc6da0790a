import MarkdownIt from 'markdown-it';

export default {
  version: '1.0.0',
  description: 'Uses markdown-it. Use to see that the package works.',
  async handler() {
    return new MarkdownIt({ linkify: true }).render('see https://example.com');
  },
  examples: [{ args: {}, expect: '<p>see <a href="https://example.com">https://example.com</a></p>\n' }],
};
