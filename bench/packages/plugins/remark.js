import { remark } from 'remark';

export default {
  version: '1.0.0',
  description: 'Uses remark. Use to see that the package works.',
  async handler() {
    return String(await remark().process('*  a'));
  },
  examples: [{ args: {}, expect: '* a\n' }],
};
