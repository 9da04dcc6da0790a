import mime from 'mime-types';

export default {
  version: '1.0.0',
  description: 'Uses mime-types. Use to see that the package works.',
  async handler() {
    return [mime.lookup('a.json'), mime.extension('text/html')];
  },
  examples: [{ args: {}, expect: ['application/json', 'html'] }],
};
