import pug from 'pug';

export default {
  version: '1.0.0',
  description: 'Uses pug. Use to see that the package works.',
  async handler() {
    return pug.render('p Hello #{name}', { name: 'Ada' });
  },
  examples: [{ args: {}, expect: '<p>Hello Ada</p>' }],
};
