import { minimatch } from 'minimatch';

export default {
  version: '1.0.0',
  description: 'Uses minimatch. Use to see that the package works.',
  async handler() {
    return [minimatch('src/a.ts', '**/*.ts'), minimatch('a.js', '*.ts')];
  },
  examples: [{ args: {}, expect: [true, false] }],
};
