import * as cheerio from 'cheerio';

export default {
  version: '1.0.0',
  description: 'Uses cheerio. Use to see that the package works.',
  async handler() {
    const $ = cheerio.load('<ul><li>a</li><li class="x">b</li></ul>');
    return [$('li').length, $('li.x').text()];
  },
  examples: [{ args: {}, expect: [2, 'b'] }],
};
