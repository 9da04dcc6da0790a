import type { Config } from '../../src/config/config-types.ts';

/** A whole configuration for a door on a free port. */
export function testConfig(dataDir: string): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    dataDir,
    configFile: undefined,
    pluginDirs: [],
    skillDirs: [],
    wasmDirs: [],
    sharedDirs: [],
    grants: {},
    grantRequested: false,
    safe: false,
    plugins: { weather: { apiKey: 'very-secret' } },
    env: { TOKEN: 'very-secret' },
    limits: {},
    pluginLimits: {},
    tools: { enabled: true },
    queue: { maxPending: 100, maxPendingPerCaller: 100, maxRunning: 100 },
    workers: { min: 1, max: 1 },
    generations: { keep: 5, drainMs: 1000 },
    executions: { keep: 100, keepRecordingsPerTool: 5, maxRecordingBytes: 1000 },
    idempotency: { keepMs: 1000 },
    network: { maxResponseBytes: 1000, timeoutMs: 1000, maxRedirects: 5 },
    files: { maxFileBytes: 1000, workspaceQuotaBytes: 1000 },
    kv: { quotaBytes: 1000, maxValueBytes: 1000 },
    watch: { polling: false },
    log: { level: 'info' },
  };
}
