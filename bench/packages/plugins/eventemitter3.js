import EventEmitter from 'eventemitter3';

export default {
  version: '1.0.0',
  description: 'Uses eventemitter3. Use to see that the package works.',
  async handler() {
    const emitter = new EventEmitter();
    const heard = [];
    emitter.on('a', (value) => heard.push(value));
    emitter.emit('a', 1);
    return heard;
  },
  examples: [{ args: {}, expect: [1] }],
};
