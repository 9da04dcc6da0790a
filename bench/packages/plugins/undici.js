import { request } from 'undici';

export default {
  version: '1.0.0',
  description: 'Uses undici. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { body } = await request(`${base}/json`);
    const { items } = await body.json();
    return items.length;
  },
  examples: [{ args: {}, expect: 2 }],
};
