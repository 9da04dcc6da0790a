import axios from 'axios';

export default {
  version: '1.0.0',
  description: 'Uses axios. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const got = await axios.get(`${base}/json`);
    const posted = await axios.post(`${base}/echo`, { a: 1 });
    const missing = await axios.get(`${base}/missing`).catch((error) => error.response.status);
    return [got.data.items.length, posted.data.a, missing];
  },
  examples: [{ args: {}, expect: [2, 1, 404] }],
};
