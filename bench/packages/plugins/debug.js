import debug from 'debug';

export default {
  version: '1.0.0',
  description: 'Uses debug. Use to see that the package works.',
  handler() {
    const log = debug('app');
    log('text %d', 1);
    return [debug.enabled('app'), debug.coerce(new Error('x')) !== ''];
  },
  examples: [{ args: {}, expect: [false, true] }],
};
