import * as yup from 'yup';

export default {
  version: '1.0.0',
  description: 'Uses yup. Use to see that the package works.',
  async handler() {
    return await yup.object({ a: yup.number().required() }).validate({ a: '1' });
  },
  examples: [{ args: {}, expect: { a: 1 } }],
};
