import _ from 'lodash';

export default {
  version: '1.0.0',
  description: 'Uses lodash. Use to see that the package works.',
  async handler() {
    return [_.chunk([1, 2, 3], 2), _.template('hi <%= who %>')({ who: 'ada' }), _.merge({ a: { b: 1 } }, { a: { c: 2 } })];
  },
  examples: [{ args: {}, expect: [[[1, 2], [3]], 'hi ada', { a: { b: 1, c: 2 } }] }],
};
