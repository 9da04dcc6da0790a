import he from 'he';

export default {
  version: '1.0.0',
  description: 'Uses he. Use to see that the package works.',
  async handler() {
    return [he.decode('&eacute;&lt;'), he.encode('é')];
  },
  examples: [{ args: {}, expect: ['é<', '&#xE9;'] }],
};
