import qs from 'qs';

export default {
  version: '1.0.0',
  description: 'Uses qs. Use to see that the package works.',
  async handler() {
    return [qs.parse('a[b]=1&c=2'), qs.stringify({ x: [1, 2] })];
  },
  examples: [{ args: {}, expect: [{ a: { b: '1' }, c: '2' }, 'x%5B0%5D=1&x%5B1%5D=2'] }],
};
