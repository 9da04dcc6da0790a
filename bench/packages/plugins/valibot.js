import * as v from 'valibot';

export default {
  version: '1.0.0',
  description: 'Uses valibot. Use to see that the package works.',
  async handler() {
    return v.safeParse(v.object({ mail: v.pipe(v.string(), v.email()) }), { mail: 'a@b.cd' }).success;
  },
  examples: [{ args: {}, expect: true }],
};
