import Fuse from 'fuse.js';

export default {
  version: '1.0.0',
  description: 'Uses fuse.js. Use to see that the package works.',
  async handler() {
    return new Fuse(['apple', 'banana'], {}).search('aple')[0].item;
  },
  examples: [{ args: {}, expect: 'apple' }],
};
