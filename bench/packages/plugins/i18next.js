import i18next from 'i18next';

export default {
  version: '1.0.0',
  description: 'Uses i18next. Use to see that the package works.',
  async handler() {
    await i18next.init({
      lng: 'en',
      resources: { en: { translation: { item_one: '{{count}} item', item_other: '{{count}} items' } } },
    });
    return i18next.t('item', { count: 2 });
  },
  examples: [{ args: {}, expect: '2 items' }],
};
