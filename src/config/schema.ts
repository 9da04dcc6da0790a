import Type, { type Static, type TSchema } from 'typebox';
import { engineNames } from './engine-names.ts';
import { freezeDeep, type Readable } from './json-object.ts';
import { type LimitName, limitTable } from './limits.ts';
import { builtinProperties } from './settings/builtin-settings.ts';
import type { Filled } from './settings/filled.ts';
import { mcpServerSchema } from './settings/mcp-settings.ts';
import { modelProperties } from './settings/model-settings.ts';
import { repairProperties } from './settings/repair-settings.ts';
import { searchProperties } from './settings/search-settings.ts';
import { choice, flag, list, named, names, section, text, whole } from './settings/setting-kinds.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const hourMs = 3_600_000;

function folders(value: readonly string[], description: string) {
  return list(Type.String({ minLength: 1 }), 64, value, description);
}

const limitProperties = Object.fromEntries(
  Object.entries(limitTable).map(([name, { default: value, max, about }]) => [name, whole(value, 1, max, about)]),
) as Record<LimitName, ReturnType<typeof whole>>;

const limits = Type.Object(limitProperties, { additionalProperties: false });

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
    host: text('127.0.0.1', 'Address to listen on.', { minLength: 1, maxLength: 253 }),
    port: whole(7420, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
    dataDir: text('.hotcell', 'Folder of the database, the token and the builds.', { minLength: 1 }),
    pluginDirs: folders(['plugins'], 'Folders whose files become plugins.'),
    skillDirs: folders(['skills'], 'Folders with skills.'),
    wasmDirs: folders(['wasm'], 'Folders with Extism plugins.'),
    sharedDirs: folders([], 'Folders outside the plugin folders from which plugins may import.'),
    mounts: named(
      Type.Object({ path: Type.String({ minLength: 1 }), write: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
      'Folders that plugins may be granted by name: `docs: { path: /srv/docs, write: false }` for `read=docs:/`.',
    ),
    grants: named(
      Type.Unknown(),
      'Permissions granted beforehand, by file of the plugin: `weather: { net: [api.example.com] }`.',
    ),
    toolOwners: named(Type.String(), 'Which file has the bare name of a tool that several define: `pay: billing`.'),
    grantRequested: flag(false, "Grants whatever a plugin requests; only for one's own plugins."),
    pluginAllowList: names([], 'Files that alone are loaded as plugins, by name, `*` for any text; all when empty.'),
    pluginDenyList: names([], 'Files that are never loaded as plugins; wins over the allow list.'),
    safeMode: choice(['off', 'dangerous', 'all'], 'off', '`dangerous` refuses tools marked isDangerous, `all` loads no plugin.'),
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
      enabled: flag(true, 'The master switch: off refuses every call.'),
      custom: flag(true, 'False lets nothing run but the built-in tools of the daemon.'),
      maxDepth: whole(8, 1, 32, 'Tools that may call one another, the first one counted.'),
    }),
    skillRoutingRules: list(
      Type.Object(
        {
          intent: Type.String({ minLength: 1, maxLength: 256 }),
          preferSkills: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 50 }),
        },
        { additionalProperties: false },
      ),
      100,
      [],
      'Tools that models see first where a request has words: `{ intent: search, preferSkills: [web_search] }`.',
    ),
    models: section(modelProperties),
    gateway: section({
      tools: choice(
        ['auto', 'all', 'code', 'off'],
        'auto',
        'Tools that clients of models get beside their own: those that fit the request (`auto`), `all`, only those to search, call and script (`code`), or none (`off`).',
      ),
      keepMs: whole(
        30 * 24 * hourMs,
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
      maxPending: whole(10_000, 1, 1_000_000, 'Calls that may wait for a cell.'),
      maxPendingPerCaller: whole(6000, 1, 1_000_000, 'The same for one caller.'),
      maxRunning: whole(6000, 1, 100_000, 'Calls that may run, waiting ones at the border included.'),
    }),
    workers: section({
      min: whole(2, 1, 64, 'Threads that are kept warm.'),
      max: whole(4, 1, 64, 'Threads at most.'),
    }),
    waiting: section({
      maxMemoryBytes: whole(384 * MIB, 16 * MIB, 64 * 1024 * MIB, 'Memory that waiting calls and kept cells hold, in bytes.'),
      maxStoredBytes: whole(
        4096 * MIB,
        0,
        1024 * 1024 * MIB,
        'What of it has no room in memory and lies in the data directory, in bytes.',
      ),
    }),
    generations: section({
      keep: whole(5, 1, 100, 'Builds of a plugin kept for rollback.'),
      drainMs: whole(30_000, 0, hourMs, 'Time that running calls get when their generation is replaced.'),
    }),
    executions: section({
      keep: whole(50_000, 100, 10_000_000, 'Records of calls that are kept.'),
      maxBytes: whole(
        256 * MIB,
        MIB,
        1024 * GIB,
        'Size of all records with their recordings; beyond it the oldest of the caller who has most go.',
      ),
      maxValueBytes: whole(
        128 * KIB,
        KIB,
        16 * MIB,
        'Size of the arguments and of the output that a record keeps whole; longer ones are cut, and the record says so.',
      ),
      keepRecordingsPerTool: whole(5, 0, 1000, 'Recordings of successful calls kept per tool.'),
      maxRecordingBytes: whole(256 * KIB, 0, 64 * MIB, 'Size of one recording.'),
    }),
    idempotency: section({
      keepMs: whole(24 * hourMs, 1000, 30 * 24 * hourMs, 'How long an idempotency key is remembered.'),
      sideEffectMs: whole(
        60_000,
        0,
        24 * hourMs,
        'How long the same call of a tool marked isSideEffect is answered with its first answer; 0 never.',
      ),
    }),
    callers: section({
      ratePerMinute: whole(0, 0, 1_000_000, 'Calls a minute of one key of role caller without a rate of its own; 0 is no limit.'),
      maxConcurrent: whole(0, 0, 100_000, 'Calls under way of one key of role caller without a bound of its own; 0 is no limit.'),
    }),
    anonymous: section({
      enabled: flag(false, 'Lets requests without a token call the tools that are listed.'),
      tools: names([], 'Tools for requests without a token, `*` for any text.'),
      ratePerMinute: whole(60, 1, 1_000_000, 'Their requests a minute from one address.'),
      maxConcurrent: whole(16, 1, 100_000, 'Their calls under way, all together.'),
    }),
    escalation: choice(
      escalations,
      'ask',
      'A plugin that wants what its engine lacks is `never` moved to another, is after a person was asked (`ask`), or by itself (`auto`).',
    ),
    pluginEscalation: named(Type.Enum(escalations), 'The same by file name of the plugin, with or without its ending.'),
    engines: section({
      allow: list(Type.Enum(engineNames), engineNames.length, engineNames, 'Engines on which plugins may run.'),
    }),
    audit: section({ keep: whole(100_000, 100, 10_000_000, 'Rows of the audit that are kept.') }),
    approvals: section({
      expireMs: whole(7 * 24 * hourMs, 1000, 365 * 24 * hourMs, 'How long a question to a person stays open.'),
      maxOpen: whole(1000, 1, 100_000, 'Questions that may be open.'),
      maxOpenPerCaller: whole(100, 1, 100_000, 'The same for what one caller caused.'),
    }),
    network: section({
      maxResponseBytes: whole(10 * MIB, 1, GIB, 'Size of one response that a plugin fetches.'),
      timeoutMs: whole(30_000, 1, hourMs, 'Time for one request of a plugin.'),
      maxRedirects: whole(5, 0, 20, 'Redirects that one request may follow.'),
    }),
    files: section({
      maxFileBytes: whole(MIB, 1, GIB, 'Size of one file in a workspace.'),
      workspaceQuotaBytes: whole(100 * MIB, 1, 1024 * GIB, 'Size of the workspace of one caller.'),
    }),
    kv: section({
      quotaBytes: whole(MIB, 1, GIB, 'Keys and values of one plugin and caller.'),
      maxValueBytes: whole(256 * KIB, 1, 64 * MIB, 'Size of one value.'),
    }),
    http: section({
      allowedHosts: list(
        Type.String({ pattern: '^[A-Za-z0-9._-]{1,253}$' }),
        64,
        [],
        'Host names, without a port, under which the daemon answers beside addresses and localhost.',
      ),
    }),
    docker: section({
      socket: text('', 'Socket of Docker or Podman; empty looks at DOCKER_HOST and where they usually listen.'),
      images: names(
        ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine'],
        'Images in which commands may run; nothing is pulled, see `hotcell images`.',
      ),
      commands: named(
        Type.String({ minLength: 1, maxLength: 256 }),
        'The image of each command of `context.run`: `{ jq: "tools:1" }`.',
      ),
      pluginImage: text('', 'The image with Node 22 or later in which plugins of the engine docker run; empty for none.'),
      memoryBytes: whole(256 * MIB, 16 * MIB, 64 * GIB, 'Memory of one container; no swap beyond it.'),
      pids: whole(100, 2, 10_000, 'Processes of one container.'),
      scratchBytes: whole(64 * MIB, MIB, 16 * GIB, 'Size of `/tmp` and of `/workspace`, each.'),
      maxOutputBytes: whole(100_000, 1, 64 * MIB, 'Bytes kept of each output stream of a command.'),
      timeoutMs: whole(30_000, 1, hourMs, 'Time of one command when nobody asks for less; also the most.'),
      maxRunning: whole(8, 1, 1000, 'Containers that run commands at the same time, and as many again with calls of plugins.'),
      maxWaiting: whole(1000, 1, 100_000, 'Commands that may wait for a container.'),
      warm: section({
        perImage: whole(1, 0, 64, 'Containers kept ready for each image used lately.'),
        total: whole(4, 0, 256, 'Containers kept ready in all.'),
        idleMs: whole(300_000, 1000, 24 * hourMs, 'An image not used for so long is not kept ready.'),
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
    hooks: section({ enabled: flag(true, 'Runs approved hooks; false switches all of them off.') }),
    repair: section(repairProperties),
    watch: section({ polling: flag(false, 'Polls instead of using the events of the file system.') }),
    log: section({
      level: choice(['debug', 'info', 'warn', 'error'], 'info', 'The least important lines to log.'),
    }),
  },
  { additionalProperties: false },
);

/** What one source (file, environment, flags) chooses: every key may be missing. */
export type Settings = Readable<Static<typeof settingsSchema>>;

/**
 * What holds when nobody chose otherwise: the default of every key, sections by their keys. Paths are relative to the folder in which
 * hotcell is started.
 */
export const defaultSettings = freezeDeep(defaultOf(settingsSchema)) as Filled<Settings>;

function defaultOf(schema: TSchema): unknown {
  if ('default' in schema || !Type.IsObject(schema)) return Reflect.get(schema, 'default');
  return Object.fromEntries(Object.entries(schema.properties).map(([key, inner]) => [key, defaultOf(inner)]));
}

/** The JSON Schema (2020-12) of the config file, for editors: `hotcell config schema`. */
export function describeConfigSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Hotcell configuration',
    ...settingsSchema,
    properties: { $schema: { type: 'string' }, ...settingsSchema.properties },
  };
}
