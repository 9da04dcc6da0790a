import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Daemons, their threads and the commands that tests start read the sources compiled already.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('./node_modules/.cache/compiled', import.meta.url));

export default defineConfig({
  resolve: {
    alias: { hotcell: fileURLToPath(new URL('./src/plugin.ts', import.meta.url)) },
  },
  test: {
    environment: 'node',
    globalSetup: ['test/warm-cache.ts'],
    // Processes, not threads: engines start worker threads of their own with stacks of their own.
    pool: 'forks',
    // Many files in one process: it reads the sources once.
    isolate: false,
    maxWorkers: 3,
    // What only the hurry of a busy machine broke passes the second time, and is listed as retried; a fault fails twice.
    retry: process.env.CI === 'true' ? 1 : 0,
    testTimeout: 30_000,
    // What must come is waited for as long as a slow and busy machine may take; only a failure takes that long.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/fixtures/**'],
  },
});
