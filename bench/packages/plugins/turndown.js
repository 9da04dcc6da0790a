import TurndownService from 'turndown';

export default {
  version: '1.0.0',
  description: 'Uses turndown. Use to see that the package works.',
  async handler() {
    return new TurndownService().turndown('<h1>Title</h1><p><b>bold</b></p>');
  },
  examples: [{ args: {}, expect: 'Title\n=====\n\n**bold**' }],
};
