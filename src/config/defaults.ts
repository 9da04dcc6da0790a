const KIB = 1024;
const MIB = 1024 * KIB;

/** What holds when nobody chose otherwise. Paths are relative to the folder in which hotcell is started. */
export const defaultSettings = {
  host: '127.0.0.1',
  port: 7420,
  dataDir: '.hotcell',
  pluginDirs: ['plugins'],
  skillDirs: ['skills'],
  wasmDirs: ['wasm'],
  sharedDirs: [],
  grantRequested: false,
  pluginAllowList: [],
  pluginDenyList: [],
  safeMode: 'off',
  tools: { enabled: true, maxDepth: 8 },
  models: { default: '', providers: {}, maxTokens: 1024, timeoutMs: 120_000 },
  queue: { maxPending: 10_000, maxPendingPerCaller: 6000, maxRunning: 6000 },
  workers: { min: 2, max: 4 },
  generations: { keep: 5, drainMs: 30_000 },
  executions: { keep: 50_000, keepRecordingsPerTool: 5, maxRecordingBytes: 256 * KIB },
  idempotency: { keepMs: 24 * 3_600_000, sideEffectMs: 60_000 },
  callers: { ratePerMinute: 0, maxConcurrent: 0 },
  anonymous: { enabled: false, tools: [], ratePerMinute: 60, maxConcurrent: 16 },
  audit: { keep: 100_000 },
  approvals: { expireMs: 7 * 24 * 3_600_000, maxOpen: 1000, maxOpenPerCaller: 100 },
  network: { maxResponseBytes: 10 * MIB, timeoutMs: 30_000, maxRedirects: 5 },
  files: { maxFileBytes: MIB, workspaceQuotaBytes: 100 * MIB },
  kv: { quotaBytes: MIB, maxValueBytes: 256 * KIB },
  http: { allowedHosts: [] },
  watch: { polling: false },
  log: { level: 'info' },
} as const;
