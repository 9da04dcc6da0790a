import { request } from 'graphql-request';

export default {
  version: '1.0.0',
  description: 'Uses graphql-request. Use to see that the package works.',
  parameters: { type: 'object', properties: { base: { type: 'string' } } },
  permissions: { net: ['127.0.0.1'] },
  async handler({ base }) {
    return await request(`${base}/graphql`, '{ hello }');
  },
  examples: [{ args: {}, expect: { hello: 'hi' } }],
};
