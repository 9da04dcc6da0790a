import * as pako from 'pako';

export default {
  version: '1.0.0',
  description: 'Uses pako. Use to see that the package works.',
  async handler() {
    return pako.ungzip(pako.gzip('text'), { toText: true, to: 'string' });
  },
  examples: [{ args: {}, expect: 'text' }],
};
