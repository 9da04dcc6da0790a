import { z } from 'zod';

export default {
  version: '1.0.0',
  description: 'Uses zod. Use to see that the package works.',
  async handler() {
    const schema = z.object({ a: z.coerce.number().int(), b: z.string().trim().default('x') });
    return [schema.parse({ a: '1' }), schema.safeParse({ a: 'x' }).success];
  },
  examples: [{ args: {}, expect: [{ a: 1, b: 'x' }, false] }],
};
