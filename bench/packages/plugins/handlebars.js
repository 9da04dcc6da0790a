import Handlebars from 'handlebars';

export default {
  version: '1.0.0',
  description: 'Uses handlebars. Use to see that the package works.',
  async handler() {
    return Handlebars.compile('{{#each list}}{{this}};{{/each}}')({ list: [1, 2] });
  },
  examples: [{ args: {}, expect: '1;2;' }],
};
