import Joi from 'joi';

export default {
  version: '1.0.0',
  description: 'Uses joi. Use to see that the package works.',
  async handler() {
    const { error, value } = Joi.object({ a: Joi.number().required() }).validate({ a: '1' });
    return [error === undefined, value];
  },
  examples: [{ args: {}, expect: [true, { a: 1 }] }],
};
