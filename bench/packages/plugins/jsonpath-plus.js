import { JSONPath } from 'jsonpath-plus';

export default {
  version: '1.0.0',
  description: 'Uses jsonpath-plus. Use to see that the package works.',
  async handler() {
    return JSONPath({ path: '$.a[?(@.b > 1)].b', json: { a: [{ b: 1 }, { b: 2 }] } });
  },
  examples: [{ args: {}, expect: [2] }],
};
