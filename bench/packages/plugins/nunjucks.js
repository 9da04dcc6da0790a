import nunjucks from 'nunjucks';

export default {
  version: '1.0.0',
  description: 'Uses nunjucks. Use to see that the package works.',
  async handler() {
    return nunjucks.renderString('Hello {{ name | upper }}{% for n in list %} {{ n }}{% endfor %}', {
      name: 'ada',
      list: [1, 2],
    });
  },
  examples: [{ args: {}, expect: 'Hello ADA 1 2' }],
};
