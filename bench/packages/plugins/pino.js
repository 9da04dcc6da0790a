import pino from 'pino';

export default {
  version: '1.0.0',
  description: 'Uses pino. Use to see that the package works.',
  async handler() {
    const lines = [];
    pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) }).info('text');
    return lines;
  },
  examples: [{ args: {}, expect: [{ level: 30, msg: 'text' }] }],
};
