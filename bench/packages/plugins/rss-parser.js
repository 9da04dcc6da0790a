import Parser from 'rss-parser';

export default {
  version: '1.0.0',
  description: 'Uses rss-parser. Use to see that the package works.',
  async handler() {
    const feed = await new Parser().parseString(
      '<rss version="2.0"><channel><title>News</title><item><title>One</title></item></channel></rss>',
    );
    return [feed.title, feed.items[0].title];
  },
  examples: [{ args: {}, expect: ['News', 'One'] }],
};
