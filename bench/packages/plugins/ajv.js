import Ajv from 'ajv';

export default {
  version: '1.0.0',
  description: 'Uses ajv. Use to see that the package works.',
  async handler() {
    const validate = new Ajv().compile({ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] });
    return [validate({ a: 1 }), validate({ a: 'x' })];
  },
  examples: [{ args: {}, expect: [true, false] }],
};
