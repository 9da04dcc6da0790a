import ky from 'ky';

export default {
  version: '1.0.0',
  description: 'Uses ky. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { items } = await ky.get(`${base}/json`).json();
    const posted = await ky.post(`${base}/echo`, { json: { a: 1 } }).json();
    return [items.length, posted.a];
  },
  examples: [{ args: {}, expect: [2, 1] }],
};
