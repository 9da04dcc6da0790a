import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Their files start no engine that would outlive a test, and measure no memory: a process runs many of them, and loads the sources once. */
const together = [
  'callers',
  'config',
  'errors',
  'events',
  'http',
  'models',
  'operations',
  'permissions',
  'queues',
  'secrets',
].map((folder) => `test/${folder}/**/*.test.ts`);
const fixtures = ['**/node_modules/**', '**/fixtures/**'];

export default defineConfig({
  resolve: {
    alias: { hotcell: fileURLToPath(new URL('./src/plugin.ts', import.meta.url)) },
  },
  test: {
    environment: 'node',
    globalSetup: ['test/warm-cache.ts'],
    // Processes, not threads: engines start worker threads of their own with stacks of their own.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    // What must come is waited for as long as a slow and busy machine may take; only a failure takes that long.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    projects: [
      { extends: true, test: { name: 'together', isolate: false, include: together, exclude: fixtures } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [...fixtures, ...together] } },
    ],
  },
});
