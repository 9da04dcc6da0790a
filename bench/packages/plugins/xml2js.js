import { parseStringPromise } from 'xml2js';

export default {
  version: '1.0.0',
  description: 'Uses xml2js. Use to see that the package works.',
  async handler() {
    return await parseStringPromise('<a><b>1</b></a>');
  },
  examples: [{ args: {}, expect: { a: { b: ['1'] } } }],
};
