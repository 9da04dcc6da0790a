import matter from 'gray-matter';

export default {
  version: '1.0.0',
  description: 'Uses gray-matter. Use to see that the package works.',
  async handler() {
    return matter('---\ntitle: a\n---\ntext').data;
  },
  examples: [{ args: {}, expect: { title: 'a' } }],
};
