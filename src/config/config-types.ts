import type { Limits } from './limits.ts';
import type { PermissionSet } from './permission-set.ts';
import type { BuiltinSettings } from './settings/builtin-settings.ts';
import type { McpSettings } from './settings/mcp-settings.ts';
import type { ModelSettings } from './settings/model-settings.ts';
import type { RepairSettings } from './settings/repair-settings.ts';
import type { SearchSettings } from './settings/search-settings.ts';

/** Tools that an operator prefers where a request is about something. */
export interface RoutingRule {
  /** The rule counts where the request has each of these words, or words that begin with them. */
  readonly intent: string;
  /** Names of tools, `*` for any text, the best first. */
  readonly preferSkills: readonly string[];
}

/** The whole configuration, frozen. Paths are absolute. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly configFile: string | undefined;
  readonly pluginDirs: readonly string[];
  readonly skillDirs: readonly string[];
  readonly wasmDirs: readonly string[];
  /** Folders outside the plugin folders from which plugins may import. */
  readonly sharedDirs: readonly string[];
  /** Folders that plugins may be granted by name, as in `read=docs:/`. */
  readonly mounts: Readonly<Record<string, MountSetting>>;
  /** Permissions granted beforehand, by plugin name. */
  readonly grants: Readonly<Record<string, PermissionSet>>;
  readonly toolOwners: Readonly<Record<string, string>>;
  /** Grants whatever is requested: for one's own machine. */
  readonly grantRequested: boolean;
  /** File names of the plugins that alone are loaded; all when empty. `*` stands for any text. */
  readonly pluginAllowList: readonly string[];
  /** File names of plugins that are never loaded. */
  readonly pluginDenyList: readonly string[];
  /** `dangerous` refuses tools marked isDangerous, `all` loads no plugin. */
  readonly safeMode: 'off' | 'dangerous' | 'all';
  /** True when safeMode is `all`. */
  readonly safe: boolean;
  /** `plugins.<name>.*`: what `context.config.get` answers. */
  readonly plugins: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Values for granted `env` names; they win over the environment of the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** Secrets by name: where their values come from, and where alone they may go. Never the values. */
  readonly secrets: Readonly<Record<string, SecretSetting>>;
  readonly limits: Partial<Limits>;
  /** Up to these a plugin may choose its own without a grant; the defaults where nothing is said. */
  readonly limitsWithoutGrant: Partial<Limits>;
  readonly pluginLimits: Readonly<Record<string, Partial<Limits>>>;
  readonly tools: { readonly enabled: boolean; readonly custom: boolean; readonly maxDepth: number };
  /** Tools that are shown first to models where a request has the words of `intent`. */
  readonly skillRoutingRules: readonly RoutingRule[];
  readonly models: ModelSettings;
  /** Servers of the Model Context Protocol whose tools join the registry. */
  readonly gateway: {
    /** Tools that clients of models get beside their own. */
    readonly tools: 'auto' | 'all' | 'code' | 'off';
    readonly keepMs: number;
  };
  readonly mcp: McpSettings;
  readonly queue: { readonly maxPending: number; readonly maxPendingPerCaller: number; readonly maxRunning: number };
  readonly workers: { readonly min: number; readonly max: number };
  readonly waiting: { readonly maxMemoryBytes: number; readonly maxStoredBytes: number };
  readonly generations: { readonly keep: number; readonly drainMs: number };
  readonly executions: {
    readonly keep: number;
    /** Of all records that have ended, with their recordings. */
    readonly maxBytes: number;
    /** Of arguments and output in a record, each. */
    readonly maxValueBytes: number;
    readonly keepRecordingsPerTool: number;
    readonly maxRecordingBytes: number;
  };
  /** `sideEffectMs`: how long the same call of a tool marked isSideEffect is not done again; 0 never. */
  readonly idempotency: { readonly keepMs: number; readonly sideEffectMs: number };
  /** For keys of role caller that have no rules of their own; 0 is no limit. */
  readonly callers: { readonly ratePerMinute: number; readonly maxConcurrent: number };
  /** What requests without a token may do; nothing unless enabled. */
  readonly anonymous: {
    readonly enabled: boolean;
    readonly tools: readonly string[];
    readonly ratePerMinute: number;
    readonly maxConcurrent: number;
  };
  /** What becomes of a plugin that its engine cannot run. */
  readonly escalation: Escalation;
  /** The same by file name of the plugin, with or without its ending: what a plugin calls itself decides nothing. */
  readonly pluginEscalation: Readonly<Record<string, Escalation>>;
  /** Engines on which plugins may run. */
  readonly engines: { readonly allow: readonly PluginEngine[] };
  readonly audit: { readonly keep: number };
  readonly approvals: { readonly expireMs: number; readonly maxOpen: number; readonly maxOpenPerCaller: number };
  readonly network: { readonly maxResponseBytes: number; readonly timeoutMs: number; readonly maxRedirects: number };
  readonly files: { readonly maxFileBytes: number; readonly workspaceQuotaBytes: number };
  readonly kv: { readonly quotaBytes: number; readonly maxValueBytes: number };
  /** Names beside addresses and localhost under which the daemon may be asked, such as that of a proxy before it. */
  readonly http: { readonly allowedHosts: readonly string[] };
  /** Native commands in containers. */
  readonly docker: DockerSettings;
  /** Tools of the daemon itself; those that run code are off where no image is named. */
  readonly builtins: BuiltinSettings;
  /** Who answers `web_search`. */
  readonly search: SearchSettings;
  /** Images made for the scripts of one skill, by its name. */
  readonly skills: { readonly images: Readonly<Record<string, string>> };
  readonly hooks: { readonly enabled: boolean };
  readonly repair: RepairSettings;
  readonly watch: { readonly polling: boolean };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}

/** Only said, asked of a person, or done. */
export type Escalation = 'never' | 'ask' | 'auto';

/** An engine that can be allowed or not. */
export type PluginEngine = 'quickjs' | 'extism' | 'deno' | 'docker';

/** A folder that plugins may be granted; `write` also for changes. */
export interface MountSetting {
  readonly path: string;
  readonly write?: boolean;
}

/** A secret as the config names it: `env` or `file`, `header` or `query`; read by src/secrets. */
export interface SecretSetting {
  readonly env?: string;
  /** Absolute. */
  readonly file?: string;
  readonly hosts: readonly string[];
  readonly header?: string;
  readonly query?: string;
}

/** How native commands run in containers. */
export interface DockerSettings {
  /** Path of the socket of Docker or Podman; empty looks where they usually listen. */
  readonly socket: string;
  /** Images in which anything may run; those of `commands` count, too. */
  readonly images: readonly string[];
  /** The image of each command that `context.run` may start. */
  readonly commands: Readonly<Record<string, string>>;
  /** The image in which plugins of the engine `docker` run; empty for none. */
  readonly pluginImage: string;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly scratchBytes: number;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly warm: { readonly perImage: number; readonly total: number; readonly idleMs: number };
}
