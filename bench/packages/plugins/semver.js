import semver from 'semver';

export default {
  version: '1.0.0',
  description: 'Uses semver. Use to see that the package works.',
  async handler() {
    return [semver.satisfies('1.2.3', '^1.0.0'), semver.inc('1.2.3', 'minor')];
  },
  examples: [{ args: {}, expect: [true, '1.3.0'] }],
};
