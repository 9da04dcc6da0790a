import Mustache from 'mustache';

export default {
  version: '1.0.0',
  description: 'Uses mustache. Use to see that the package works.',
  async handler() {
    return Mustache.render('Hi {{name}}', { name: 'Ada' });
  },
  examples: [{ args: {}, expect: 'Hi Ada' }],
};
