import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// Not merged: the patterns of the usual run would come along.
const { projects, ...usual } = base.test ?? {};

export default defineConfig({
  ...base,
  test: { ...usual, include: ['test/long/**/*.long.ts'], testTimeout: 1_200_000, maxWorkers: 1 },
});
