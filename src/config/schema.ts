import Type, { type Static, type TSchema } from 'typebox';
import { defaultSettings as defaults } from './defaults.ts';
import { type LimitName, limitTable } from './limits.ts';
import { builtinProperties } from './settings/builtin-settings.ts';
import type { Frozen } from './settings/filled.ts';
import { mcpServerSchema } from './settings/mcp-settings.ts';
import { modelAliasSchema, modelPriceSchema, modelProviderSchema } from './settings/model-settings.ts';
import { repairProperties } from './settings/repair-settings.ts';
import { searchProperties } from './settings/search-settings.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const hourMs = 3_600_000;

/** An integer with its bounds, default and meaning. */
function whole(value: number, minimum: number, maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum, maximum, default: value, description }));
}

function flag(value: boolean, description: string) {
  return Type.Optional(Type.Boolean({ default: value, description }));
}

function folders(value: readonly string[], description: string) {
  return Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 64, default: [...value], description }));
}

function names(value: readonly string[], description: string) {
  const name = Type.String({ minLength: 1, maxLength: 256 });
  return Type.Optional(Type.Array(name, { maxItems: 1000, default: [...value], description }));
}

function section<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Optional(Type.Object(properties, { additionalProperties: false }));
}

function limit(name: LimitName) {
  const { default: value, max, about } = limitTable[name];
  return whole(value, 1, max, about);
}

const limitProperties = {
  wallMs: limit('wallMs'),
  cpuMs: limit('cpuMs'),
  memoryBytes: limit('memoryBytes'),
  stackBytes: limit('stackBytes'),
  argumentBytes: limit('argumentBytes'),
  outputBytes: limit('outputBytes'),
  logBytes: limit('logBytes'),
  logLines: limit('logLines'),
  hostCalls: limit('hostCalls'),
  pendingHostCalls: limit('pendingHostCalls'),
} as const satisfies Record<LimitName, TSchema>;

const limits = Type.Object(limitProperties, { additionalProperties: false });

function named<Value extends TSchema>(value: Value, description: string) {
  return Type.Optional(Type.Record(Type.String(), value, { default: {}, description }));
}

const shortText = Type.String({ minLength: 1, maxLength: 4096 });
const secret = Type.Object(
  {
    env: Type.Optional(shortText),
    file: Type.Optional(shortText),
    hosts: Type.Array(shortText, { minItems: 1, maxItems: 32 }),
    header: Type.Optional(shortText),
    query: Type.Optional(shortText),
  },
  { additionalProperties: false },
);

const escalations = ['never', 'ask', 'auto'] as const;

/** The one schema of the configuration: the file, the environment and the flags are all checked against it. */
export const settingsSchema = Type.Object(
  {
    host: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, default: defaults.host, description: 'Address to listen on.' }),
    ),
    port: whole(defaults.port, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
    dataDir: Type.Optional(
      Type.String({ minLength: 1, default: defaults.dataDir, description: 'Folder of the database, the token and the builds.' }),
    ),
    pluginDirs: folders(defaults.pluginDirs, 'Folders whose files become plugins.'),
    skillDirs: folders(defaults.skillDirs, 'Folders with skills.'),
    wasmDirs: folders(defaults.wasmDirs, 'Folders with Extism plugins.'),
    sharedDirs: folders(defaults.sharedDirs, 'Folders outside the plugin folders from which plugins may import.'),
    mounts: named(
      Type.Object({ path: Type.String({ minLength: 1 }), write: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
      'Folders that plugins may be granted by name: `docs: { path: /srv/docs, write: false }` for `read=docs:/`.',
    ),
    grants: named(
      Type.Unknown(),
      'Permissions granted beforehand, by file of the plugin: `weather: { net: [api.example.com] }`.',
    ),
    toolOwners: named(Type.String(), 'Which file has the bare name of a tool that several define: `pay: billing`.'),
    grantRequested: flag(defaults.grantRequested, "Grants whatever a plugin requests; only for one's own plugins."),
    pluginAllowList: names(
      defaults.pluginAllowList,
      'Files that alone are loaded as plugins, by name, `*` for any text; all when empty.',
    ),
    pluginDenyList: names(defaults.pluginDenyList, 'Files that are never loaded as plugins; wins over the allow list.'),
    safeMode: Type.Optional(
      Type.Enum(['off', 'dangerous', 'all'], {
        default: defaults.safeMode,
        description: '`dangerous` refuses tools marked isDangerous, `all` loads no plugin.',
      }),
    ),
    plugins: named(Type.Record(Type.String(), Type.Unknown()), 'Values by file of the plugin that `context.config.get` answers.'),
    env: named(Type.String(), "Values for granted `env` names; they win over the daemon's environment."),
    secrets: named(
      secret,
      'Secrets by name: `env` or `file` of the value, the `hosts` and the `header` or `query` it may go to.',
    ),
    limits: Type.Optional(limits),
    limitsWithoutGrant: Type.Optional(
      Type.Object(limitProperties, {
        additionalProperties: false,
        description: 'Limits up to which a plugin may choose its own without a grant, by name.',
      }),
    ),
    pluginLimits: named(limits, 'The same limits by file of the plugin; they win over `limits`.'),
    tools: section({
      enabled: flag(defaults.tools.enabled, 'The master switch: off refuses every call.'),
      custom: flag(defaults.tools.custom, 'False lets nothing run but the built-in tools of the daemon.'),
      maxDepth: whole(defaults.tools.maxDepth, 1, 32, 'Tools that may call one another, the first one counted.'),
    }),
    skillRoutingRules: Type.Optional(
      Type.Array(
        Type.Object(
          {
            intent: Type.String({ minLength: 1, maxLength: 256 }),
            preferSkills: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 50 }),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 100,
          default: [],
          description: 'Tools that models see first where a request has words: `{ intent: search, preferSkills: [web_search] }`.',
        },
      ),
    ),
    models: section({
      default: Type.Optional(
        Type.String({
          maxLength: 256,
          default: defaults.models.default,
          description: 'Model that is asked when none is named: an alias, a provider, or `provider/model`.',
        }),
      ),
      providers: named(
        modelProviderSchema,
        'Providers by name: `openai: {}`, `ollama: { model: llama3.2 }`, `own: { baseUrl: https://api.example.com/v1, model: m-1, key: API_KEY }`.',
      ),
      aliases: named(
        modelAliasSchema,
        'Other names of models; of several the first is asked, the others after it failed: `fast: [groq, openai/gpt-4o-mini]`.',
      ),
      prices: named(
        modelPriceSchema,
        'Dollars for a million tokens, by `provider/model` or model: `m-1: { input: 0.5, output: 1.5 }`; they win over the shipped ones.',
      ),
      maxTokens: whole(defaults.models.maxTokens, 1, 1_000_000, 'Tokens of an answer when nobody says otherwise.'),
      timeoutMs: whole(defaults.models.timeoutMs, 1, hourMs, 'Time that a model may say nothing, at the start and later.'),
      maxRetries: whole(defaults.models.maxRetries, 0, 10, 'How often a model is asked again after a failure that may pass.'),
    }),
    gateway: section({
      tools: Type.Optional(
        Type.Enum(['auto', 'all', 'code', 'off'], {
          default: defaults.gateway.tools,
          description:
            'Tools that clients of models get beside their own: those that fit the request (`auto`), `all`, only those to search, call and script (`code`), or none (`off`).',
        }),
      ),
      keepMs: whole(
        defaults.gateway.keepMs,
        60_000,
        365 * 24 * hourMs,
        'How long answers are kept that a later request may go on from.',
      ),
    }),
    mcp: section({
      servers: named(
        mcpServerSchema,
        'MCP servers whose tools join, by name: `files: { command: npx, args: [-y, SERVER] }` or `notes: { url: https://… }`.',
      ),
    }),
    queue: section({
      maxPending: whole(defaults.queue.maxPending, 1, 1_000_000, 'Calls that may wait for a cell.'),
      maxPendingPerCaller: whole(defaults.queue.maxPendingPerCaller, 1, 1_000_000, 'The same for one caller.'),
      maxRunning: whole(defaults.queue.maxRunning, 1, 100_000, 'Calls that may run, waiting ones at the border included.'),
    }),
    workers: section({
      min: whole(defaults.workers.min, 1, 64, 'Threads that are kept warm.'),
      max: whole(defaults.workers.max, 1, 64, 'Threads at most.'),
    }),
    waiting: section({
      maxMemoryBytes: whole(
        defaults.waiting.maxMemoryBytes,
        16 * MIB,
        64 * 1024 * MIB,
        'Memory that waiting calls and kept cells hold, in bytes.',
      ),
      maxStoredBytes: whole(
        defaults.waiting.maxStoredBytes,
        0,
        1024 * 1024 * MIB,
        'What of it has no room in memory and lies in the data directory, in bytes.',
      ),
    }),
    generations: section({
      keep: whole(defaults.generations.keep, 1, 100, 'Builds of a plugin kept for rollback.'),
      drainMs: whole(defaults.generations.drainMs, 0, hourMs, 'Time that running calls get when their generation is replaced.'),
    }),
    executions: section({
      keep: whole(defaults.executions.keep, 100, 10_000_000, 'Records of calls that are kept.'),
      maxBytes: whole(
        defaults.executions.maxBytes,
        MIB,
        1024 * GIB,
        'Size of all records with their recordings; beyond it the oldest of the caller who has most go.',
      ),
      maxValueBytes: whole(
        defaults.executions.maxValueBytes,
        KIB,
        16 * MIB,
        'Size of the arguments and of the output that a record keeps whole; longer ones are cut, and the record says so.',
      ),
      keepRecordingsPerTool: whole(
        defaults.executions.keepRecordingsPerTool,
        0,
        1000,
        'Recordings of successful calls kept per tool.',
      ),
      maxRecordingBytes: whole(defaults.executions.maxRecordingBytes, 0, 64 * MIB, 'Size of one recording.'),
    }),
    idempotency: section({
      keepMs: whole(defaults.idempotency.keepMs, 1000, 30 * 24 * hourMs, 'How long an idempotency key is remembered.'),
      sideEffectMs: whole(
        defaults.idempotency.sideEffectMs,
        0,
        24 * hourMs,
        'How long the same call of a tool marked isSideEffect is answered with its first answer; 0 never.',
      ),
    }),
    callers: section({
      ratePerMinute: whole(
        defaults.callers.ratePerMinute,
        0,
        1_000_000,
        'Calls a minute of one key of role caller without a rate of its own; 0 is no limit.',
      ),
      maxConcurrent: whole(
        defaults.callers.maxConcurrent,
        0,
        100_000,
        'Calls under way of one key of role caller without a bound of its own; 0 is no limit.',
      ),
    }),
    anonymous: section({
      enabled: flag(defaults.anonymous.enabled, 'Lets requests without a token call the tools that are listed.'),
      tools: names(defaults.anonymous.tools, 'Tools for requests without a token, `*` for any text.'),
      ratePerMinute: whole(defaults.anonymous.ratePerMinute, 1, 1_000_000, 'Their requests a minute from one address.'),
      maxConcurrent: whole(defaults.anonymous.maxConcurrent, 1, 100_000, 'Their calls under way, all together.'),
    }),
    escalation: Type.Optional(
      Type.Enum(escalations, {
        default: defaults.escalation,
        description:
          'A plugin that wants what its engine lacks is `never` moved to another, is after a person was asked (`ask`), or by itself (`auto`).',
      }),
    ),
    pluginEscalation: named(Type.Enum(escalations), 'The same by file name of the plugin, with or without its ending.'),
    engines: section({
      allow: Type.Optional(
        Type.Array(Type.Enum(['quickjs', 'extism', 'deno', 'docker']), {
          maxItems: 4,
          default: [...defaults.engines.allow],
          description: 'Engines on which plugins may run.',
        }),
      ),
    }),
    audit: section({ keep: whole(defaults.audit.keep, 100, 10_000_000, 'Rows of the audit that are kept.') }),
    approvals: section({
      expireMs: whole(defaults.approvals.expireMs, 1000, 365 * 24 * hourMs, 'How long a question to a person stays open.'),
      maxOpen: whole(defaults.approvals.maxOpen, 1, 100_000, 'Questions that may be open.'),
      maxOpenPerCaller: whole(defaults.approvals.maxOpenPerCaller, 1, 100_000, 'The same for what one caller caused.'),
    }),
    network: section({
      maxResponseBytes: whole(defaults.network.maxResponseBytes, 1, GIB, 'Size of one response that a plugin fetches.'),
      timeoutMs: whole(defaults.network.timeoutMs, 1, hourMs, 'Time for one request of a plugin.'),
      maxRedirects: whole(defaults.network.maxRedirects, 0, 20, 'Redirects that one request may follow.'),
    }),
    files: section({
      maxFileBytes: whole(defaults.files.maxFileBytes, 1, GIB, 'Size of one file in a workspace.'),
      workspaceQuotaBytes: whole(defaults.files.workspaceQuotaBytes, 1, 1024 * GIB, 'Size of the workspace of one caller.'),
    }),
    kv: section({
      quotaBytes: whole(defaults.kv.quotaBytes, 1, GIB, 'Keys and values of one plugin and caller.'),
      maxValueBytes: whole(defaults.kv.maxValueBytes, 1, 64 * MIB, 'Size of one value.'),
    }),
    http: section({
      allowedHosts: Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Za-z0-9._-]{1,253}$' }), {
          maxItems: 64,
          default: [...defaults.http.allowedHosts],
          description: 'Host names, without a port, under which the daemon answers beside addresses and localhost.',
        }),
      ),
    }),
    docker: section({
      socket: Type.Optional(
        Type.String({
          maxLength: 256,
          default: defaults.docker.socket,
          description: 'Socket of Docker or Podman; empty looks at DOCKER_HOST and where they usually listen.',
        }),
      ),
      images: names(defaults.docker.images, 'Images in which commands may run; nothing is pulled, see `hotcell images`.'),
      commands: named(
        Type.String({ minLength: 1, maxLength: 256 }),
        'The image of each command of `context.run`: `{ jq: "tools:1" }`.',
      ),
      pluginImage: Type.Optional(
        Type.String({
          maxLength: 256,
          default: defaults.docker.pluginImage,
          description: 'The image with Node 22 or later in which plugins of the engine docker run; empty for none.',
        }),
      ),
      memoryBytes: whole(defaults.docker.memoryBytes, 16 * MIB, 64 * GIB, 'Memory of one container; no swap beyond it.'),
      pids: whole(defaults.docker.pids, 2, 10_000, 'Processes of one container.'),
      scratchBytes: whole(defaults.docker.scratchBytes, MIB, 16 * GIB, 'Size of `/tmp` and of `/workspace`, each.'),
      maxOutputBytes: whole(defaults.docker.maxOutputBytes, 1, 64 * MIB, 'Bytes kept of each output stream of a command.'),
      timeoutMs: whole(defaults.docker.timeoutMs, 1, hourMs, 'Time of one command when nobody asks for less; also the most.'),
      maxRunning: whole(
        defaults.docker.maxRunning,
        1,
        1000,
        'Containers that run commands at the same time, and as many again with calls of plugins.',
      ),
      maxWaiting: whole(defaults.docker.maxWaiting, 1, 100_000, 'Commands that may wait for a container.'),
      warm: section({
        perImage: whole(defaults.docker.warm.perImage, 0, 64, 'Containers kept ready for each image used lately.'),
        total: whole(defaults.docker.warm.total, 0, 256, 'Containers kept ready in all.'),
        idleMs: whole(defaults.docker.warm.idleMs, 1000, 24 * hourMs, 'An image not used for so long is not kept ready.'),
      }),
    }),
    builtins: section(builtinProperties),
    search: section(searchProperties),
    skills: section({
      images: named(
        Type.String({ minLength: 1, maxLength: 256 }),
        'Images made for one skill, by its name: its scripts run there; see `hotcell skill packages`.',
      ),
    }),
    hooks: section({ enabled: flag(defaults.hooks.enabled, 'Runs approved hooks; false switches all of them off.') }),
    repair: section(repairProperties),
    watch: section({ polling: flag(defaults.watch.polling, 'Polls instead of using the events of the file system.') }),
    log: section({
      level: Type.Optional(
        Type.Enum(['debug', 'info', 'warn', 'error'], {
          default: defaults.log.level,
          description: 'The least important lines to log.',
        }),
      ),
    }),
  },
  { additionalProperties: false },
);

/** What one source (file, environment, flags) chooses: every key may be missing. */
export type Settings = Frozen<Static<typeof settingsSchema>>;

/** The JSON Schema (2020-12) of the config file, for editors: `hotcell config schema`. */
export function describeConfigSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Hotcell configuration',
    ...settingsSchema,
    properties: { $schema: { type: 'string' }, ...settingsSchema.properties },
  };
}
