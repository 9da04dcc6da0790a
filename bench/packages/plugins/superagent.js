import superagent from 'superagent';

export default {
  version: '1.0.0',
  description: 'Uses superagent. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    const { body } = await superagent.get(`${base}/json`);
    return body.items.length;
  },
  examples: [{ args: {}, expect: 2 }],
};
