import { produce } from 'immer';

export default {
  version: '1.0.0',
  description: 'Uses immer. Use to see that the package works.',
  async handler() {
    return produce({ a: [1] }, (draft) => {
      draft.a.push(2);
    });
  },
  examples: [{ args: {}, expect: { a: [1, 2] } }],
};
