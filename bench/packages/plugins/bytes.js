import bytes from 'bytes';

export default {
  version: '1.0.0',
  description: 'Uses bytes. Use to see that the package works.',
  async handler() {
    return [bytes('1kb'), bytes(2048)];
  },
  examples: [{ args: {}, expect: [1024, '2KB'] }],
};
