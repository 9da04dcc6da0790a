import got from 'got';

export default {
  version: '1.0.0',
  description: 'Uses got. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { items } = await got(`${base}/json`, { retry: { limit: 0 } }).json();
    return items.length;
  },
  examples: [{ args: {}, expect: 2 }],
};
