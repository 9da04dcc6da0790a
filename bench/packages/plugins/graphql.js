import { buildSchema, graphql } from 'graphql';

export default {
  version: '1.0.0',
  description: 'Uses graphql. Use to see that the package works.',
  async handler() {
    const answer = await graphql({
      schema: buildSchema('type Query { hello: String }'),
      source: '{ hello }',
      rootValue: { hello: () => 'hi' },
    });
    return answer.data.hello;
  },
  examples: [{ args: {}, expect: 'hi' }],
};
