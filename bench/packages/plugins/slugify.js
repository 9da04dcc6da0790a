import slugify from 'slugify';

export default {
  version: '1.0.0',
  description: 'Uses slugify. Use to see that the package works.',
  async handler() {
    return slugify('Größe & Ärger', { lower: true });
  },
  examples: [{ args: {}, expect: 'grosse-and-arger' }],
};
