import { decode, encode } from '@msgpack/msgpack';

export default {
  version: '1.0.0',
  description: 'Uses @msgpack/msgpack. Use to see that the package works.',
  async handler() {
    return decode(encode({ a: [1, 'x'] }));
  },
  examples: [{ args: {}, expect: { a: [1, 'x'] } }],
};
