import { LRUCache } from 'lru-cache';

export default {
  version: '1.0.0',
  description: 'Uses lru-cache. Use to see that the package works.',
  async handler() {
    const cache = new LRUCache({ max: 1, ttl: 1000 });
    cache.set('a', 1).set('b', 2);
    return [cache.has('a'), cache.get('b')];
  },
  examples: [{ args: {}, expect: [false, 2] }],
};
