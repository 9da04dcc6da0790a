import pg from 'pg';

export default {
  version: '1.0.0',
  description: 'Uses pg. Use to see that the package works.',
  async handler() {
    return [pg.escapeLiteral("a'b"), typeof pg.Client];
  },
  examples: [{ args: {}, expect: ["'a''b'", 'function'] }],
};
