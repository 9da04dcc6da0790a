/**
 * What a plugin imports from 'hotcell': types, and two functions that return what they get and give handlers the types of
 * their parameters. Nothing here runs in the daemon.
 */
import type { engineNames } from './config/engine-names.ts';
import type { ArgumentsOf } from './plugins/arguments-of.ts';
import type { PluginContext } from './plugins/plugin-context.ts';

export type { HookAnswer, HookContexts, HookHandler, HookTold } from './hooks/handler-types.ts';
export type { ArgumentsOf } from './plugins/arguments-of.ts';
export type {
  FileEntry,
  FileStatus,
  PluginContext as Context,
  PluginFiles,
  PluginKeyValues,
  PluginLog,
} from './plugins/plugin-context.ts';

/**
 * Text, JSON, and what becomes JSON: Map, Set, Date, bytes, Blob, Response, streams, generators; docs/plugin-format.md has the
 * table. A promise of it is awaited.
 */
export type HandlerResult = unknown;

/** One call for `hotcell plugin test`; without `expect` it only must not fail. */
export interface ToolExample {
  readonly args: unknown;
  readonly expect?: unknown;
}

/** The keys of a tool, in `tools` or, for a plugin with one handler, of the plugin itself. */
export interface ToolDefinition<Parameters = unknown> {
  /** Written for the model that chooses the tool: what it does and when to use it. */
  readonly description?: string;
  /** A schema of last resort: `weather(city, days?)`. */
  readonly usage?: string;
  /** JSON Schema, whose defaults are filled in, or a Standard Schema object such as one of zod: what it parses is what the handler gets. */
  readonly parameters?: Parameters;
  readonly output?: unknown;
  readonly isResearch?: boolean;
  readonly isSideEffect?: boolean;
  readonly isDeep?: boolean;
  readonly isDangerous?: boolean;
  readonly isElevated?: boolean;
  readonly isParallelSafe?: boolean;
  readonly tags?: readonly string[];
  readonly mode?: 'on' | 'off' | 'auto';
  /** `person`: for admins only. `both`: a person lets every call begin. */
  readonly who?: 'model' | 'person' | 'both';
  /** For MCP clients that have tasks: `required` takes no other clients, `never` always answers at once. */
  readonly task?: 'required' | 'never';
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly idempotent?: boolean;
  readonly examples?: readonly ToolExample[];
  readonly handler: (args: ArgumentsOf<Parameters>, context: PluginContext) => HandlerResult;
}

/** Flags and words of a tool that hold for prompts and resources too. */
type OfferingWords = Omit<ToolDefinition, 'description' | 'usage' | 'parameters' | 'output' | 'examples' | 'handler'>;

/** Values that can stand for an argument; a function gets what was typed so far, and the other arguments. */
export type Completion =
  | readonly string[]
  | ((value: string, context: Readonly<Record<string, string>>) => readonly string[] | Promise<readonly string[]>);

/** One argument of a prompt: a text. */
export interface PromptArgumentDefinition {
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Completion;
}

/** A part of a message, such as `{ type: 'text', text }` or `{ type: 'image', mediaType, data }`. */
export interface MessagePart {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A message of a prompt; a text alone is said by the user. */
export type PromptMessageDefinition =
  | string
  | { readonly role?: 'user' | 'assistant'; readonly content: string | MessagePart | readonly (string | MessagePart)[] };

/** What the handler of a prompt returns. */
export type PromptResult =
  | string
  | readonly PromptMessageDefinition[]
  | { readonly description?: string; readonly messages: readonly PromptMessageDefinition[] };

/** Messages that a person picks to begin with. */
export interface PromptDefinition extends OfferingWords {
  readonly title?: string;
  readonly description?: string;
  readonly arguments?:
    | Readonly<Record<string, PromptArgumentDefinition>>
    | readonly (PromptArgumentDefinition & { readonly name: string })[];
  readonly handler: (args: Readonly<Record<string, string>>, context: PluginContext) => PromptResult | Promise<PromptResult>;
}

/** Data with an address: a text, bytes, or pieces that say more of themselves. */
export interface ResourceDefinition extends OfferingWords {
  readonly title?: string;
  readonly description?: string;
  /** Its address; one of `uri` and `uriTemplate` is there. */
  readonly uri?: string;
  /** The addresses of many, such as `notes://{id}`. */
  readonly uriTemplate?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
  readonly complete?: Readonly<Record<string, Completion>>;
  /** A text, bytes, `{ text, mimeType }`, `{ blob, mimeType }`, or a list of these. */
  readonly read: (params: Readonly<Record<string, string>>, context: PluginContext) => unknown;
}

/** What holds for the whole plugin. */
export interface PluginSettings {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly permissions?: PluginPermissions;
  readonly isolation?: 'call' | 'session' | 'plugin';
  readonly engine?: (typeof engineNames)[number];
  readonly limits?: Readonly<Record<string, number>>;
  /** Runs once before the memory is frozen, with no capability. */
  readonly onLoad?: () => unknown;
  /** Runs once in each cell, before its first call: with isolation 'call' before every call. */
  readonly onStart?: (context: PluginContext) => unknown;
  /** Asked without state it answers the state to keep; asked with state, in the next generation, it takes it over. */
  // biome-ignore lint/suspicious/noExplicitAny: the state is whatever JSON the plugin itself returned
  readonly onReload?: (state?: any) => unknown;
  readonly healthcheck?: (context: PluginContext) => unknown;
  readonly prompts?: Readonly<Record<string, PromptDefinition>>;
  readonly resources?: Readonly<Record<string, ResourceDefinition>>;
}

/** What a plugin asks for; an operator grants it. */
export interface PluginPermissions {
  readonly net?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly env?: readonly string[];
  readonly run?: readonly string[];
  readonly tools?: readonly string[];
  readonly llm?: number | true;
  readonly kv?: true | { readonly quotaBytes?: number; readonly shared?: boolean };
  readonly sharedCell?: true;
}

/** A plugin with one handler. */
export type SinglePlugin<Parameters = unknown> = PluginSettings & ToolDefinition<Parameters>;

// biome-ignore lint/suspicious/noExplicitAny: every tool has arguments of its own
type AnyTool = ToolDefinition<any>;

/** A plugin with several tools; wrap each in `defineTool` to type its arguments. */
export interface ToolsPlugin extends PluginSettings {
  readonly tags?: readonly string[];
  /** By their names, or a list of tools that name themselves. */
  readonly tools: Readonly<Record<string, AnyTool>> | readonly (AnyTool & { readonly name: string })[];
}

/** A plugin without a tool. */
export type OfferingsPlugin = PluginSettings &
  (
    | { readonly prompts: Readonly<Record<string, PromptDefinition>> }
    | { readonly resources: Readonly<Record<string, ResourceDefinition>> }
  );

/** Types `args` from `parameters` and checks the keys; returns its argument. */
export function definePlugin<const Parameters>(plugin: SinglePlugin<Parameters>): SinglePlugin<Parameters>;
export function definePlugin<Plugin extends ToolsPlugin>(plugin: Plugin): Plugin;
export function definePlugin<Plugin extends OfferingsPlugin>(plugin: Plugin): Plugin;
export function definePlugin(plugin: unknown): unknown {
  return plugin;
}

/** Types `args` of one tool of `tools` from its `parameters`; returns its argument. */
export function defineTool<const Parameters>(tool: ToolDefinition<Parameters>): ToolDefinition<Parameters> {
  return tool;
}
