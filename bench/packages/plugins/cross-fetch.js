import fetch from 'cross-fetch';

export default {
  version: '1.0.0',
  description: 'Uses cross-fetch. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { items } = await (await fetch(`${base}/json`)).json();
    return items.length;
  },
  examples: [{ args: {}, expect: 2 }],
};
