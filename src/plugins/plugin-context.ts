/** The second argument of a handler. Every use is checked against what was granted; a refusal rejects with a `code`. */
export interface PluginContext {
  readonly log: PluginLog;
  /** The same as `log`. */
  readonly logger: PluginLog;
  /** Values of `plugins.<name>` in the daemon's config, and granted `env` names; what may not be read throws unless there is a fallback. */
  readonly config: { get<Value = unknown>(key: string, fallback?: Value): Value };
  readonly env: { get(name: string): string | undefined };
  /** JSON values that survive reloads and restarts; needs `permissions.kv`. */
  readonly kv: PluginKeyValues;
  /** Files of the caller's workspace; needs `permissions.read` and `permissions.write`. */
  readonly files: PluginFiles;
  /** The same as the global `fetch`; needs `permissions.net`. */
  readonly fetch: typeof fetch;
  /** Other tools, called with the caller's rights; needs `permissions.tools`. */
  readonly tools: PluginTools;
  /** A language model of the operator's choice; needs `permissions.llm`. */
  readonly llm: PluginModel;
  /** Runs a native command in a container of its own; needs `permissions.run`. There is no shell: arguments are a list. */
  run(command: string, args?: readonly string[], options?: RunOptions & { readonly as?: 'text' }): Promise<RunResult>;
  run(command: string, args: readonly string[], options: RunOptions & { readonly as: 'bytes' }): Promise<RunResult<Uint8Array>>;
  confirm(question: string): Promise<boolean>;
  /** Asks the caller to fill in a form, and waits, for days if need be. */
  ask<Content extends object = Readonly<Record<string, FormContent>>>(form: PluginForm): Promise<FormAnswer<Content>>;
  /** What the client of the caller can do; refused with `client-cannot` where it cannot. */
  readonly client: PluginClient;
  readonly resources: PluginResources;
  /** Tells the caller how far the call is. */
  progress(done: number, total?: number, message?: string): void;
  skill(name: string): Promise<unknown>;
  readonly session: { readonly id: string };
  readonly caller: { readonly id: string };
  readonly executionId: string;
  /** For `fetch(url, { signal })`. A call that is cancelled or out of time ends at once, with all it waits for: nothing runs after that. */
  readonly signal: AbortSignal;
}

/** Lines of the call's log. */
export interface PluginLog {
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

/** `context.kv`: a store of this plugin and this caller, or of all callers where that was granted. */
export interface PluginKeyValues {
  /** The value, or null. */
  get<Value = unknown>(key: string): Promise<Value | null>;
  set(key: string, value: unknown): Promise<null>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
  /** Entries in order of their keys; `next` is the `after` of the following page. */
  list<Value = unknown>(options?: {
    readonly prefix?: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<{ readonly items: { readonly key: string; readonly value: Value }[]; readonly next?: string }>;
}

/** `context.tools`: other tools. */
export interface PluginTools {
  /**
   * The output of `name`, `name@1.2.0` or `name@^1`. Rejects with the error of that tool, its `code` included. `timeoutMs` can
   * only shorten what the own call has left; calls with the same `idempotencyKey` and arguments run once.
   */
  call<Output = unknown>(
    name: string,
    args?: unknown,
    options?: { readonly timeoutMs?: number; readonly idempotencyKey?: string },
  ): Promise<Output>;
  /** The tools that may be called; `input` is the JSON Schema of the arguments. */
  list(): Promise<{ readonly name: string; readonly version: string; readonly description: string; readonly input: unknown }[]>;
}

/** One message to a model. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What a model is asked: either `prompt` or `messages`. */
export interface ModelRequest {
  readonly prompt?: string;
  readonly messages?: readonly ModelMessage[];
  readonly system?: string;
  /** Tokens of the answer at most; counts against the budget before the call. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** `true` asks for JSON, a JSON Schema for JSON of that shape; the answer then has `json`. */
  readonly json?: true | Readonly<Record<string, unknown>>;
  /** Names of tools that the model may call on the way to its answer; needs `permissions.tools`. */
  readonly tools?: readonly string[];
}

/** The answer of a model. */
export interface ModelAnswer<Json = unknown> {
  readonly text: string;
  readonly json?: Json;
  readonly model: string;
  /** Why it ended: `length` when it was cut at `maxTokens`; with tools also the bound of the loop that it reached. */
  readonly finishReason: string;
  /** The calls that the model made, in order; only with `tools`. */
  readonly calls?: readonly { readonly name: string; readonly status: string }[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly budgetLeft: number };
}

/** `context.llm`: one answer of a language model. */
export interface PluginModel {
  generate<Json = unknown>(request: string | ModelRequest): Promise<ModelAnswer<Json>>;
}

/** An entry of a folder. */
export interface FileEntry {
  readonly name: string;
  readonly type: 'file' | 'folder' | 'other';
}

/** What is known of a file or folder. */
export interface FileStatus {
  readonly type: 'file' | 'folder' | 'other';
  readonly size: number;
  readonly modifiedAtMs: number;
}

/** `context.files`: paths are relative to the workspace. */
export interface PluginFiles {
  /** The text of a file (UTF-8). */
  read(path: string, options?: { readonly offset?: number; readonly limit?: number }): Promise<string>;
  readBytes(path: string, options?: { readonly offset?: number; readonly limit?: number }): Promise<Uint8Array>;
  write(path: string, content: string | Uint8Array | ArrayBuffer): Promise<{ readonly size: number }>;
  append(path: string, content: string | Uint8Array | ArrayBuffer): Promise<{ readonly size: number }>;
  /** Entries in order of their names; `next` is the `after` of the following page. */
  list(
    path?: string,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<{ readonly items: FileEntry[]; readonly next?: string }>;
  stat(path: string): Promise<FileStatus>;
  exists(path: string): Promise<boolean>;
  /** Whether there was one; a folder that is not empty needs `recursive`. */
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<boolean>;
  mkdir(path: string): Promise<null>;
}

/** What a command gets. */
export interface RunOptions {
  readonly stdin?: string | Uint8Array | ArrayBuffer;
  /** Files and folders of the workspace that the command sees, under the same paths; needs `permissions.read`. */
  readonly files?: readonly string[];
  readonly timeoutMs?: number;
}

/** How a command ended. A command that ends with another code than 0 is no error of the call. */
export interface RunResult<Output = string> {
  readonly exitCode: number;
  readonly stdout: Output;
  readonly stderr: string;
  /** More was written than is kept. */
  readonly truncated: boolean;
  /** Files that the command wrote and that are in the workspace now; needs `permissions.write`. */
  readonly files: readonly string[];
  /** What it wrote beside that: not granted, or no regular file. */
  readonly left: readonly string[];
}

/** What `context.ask` asks for. */
export interface PluginForm {
  /** What people read above it. */
  readonly message: string;
  /** JSON Schema of a flat object: texts, numbers, yes or no, and choices. */
  readonly schema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly required?: readonly string[];
  };
  /** Tells the questions of one call apart for programs that answer. */
  readonly name?: string;
}

/** What may stand in a field of a form. */
export type FormContent = string | number | boolean | readonly string[] | undefined;

/** What became of a form. */
export type FormAnswer<Content> = { readonly action: 'accept'; readonly content: Content } | { readonly action: 'decline' };

/** `context.client`: the program of the caller, in the words of MCP. */
export interface PluginClient {
  /** An answer of the client's own model; takes and answers what `sampling/createMessage` does. */
  createMessage(params: Readonly<Record<string, unknown>>): Promise<{
    readonly role: string;
    readonly content: unknown;
    readonly model: string;
    readonly [key: string]: unknown;
  }>;
  /** The folders that the client works in. */
  listRoots(): Promise<{ readonly roots: readonly { readonly uri: string; readonly name?: string }[] }>;
}

/** `context.resources`: what the plugin says of its own resources. */
export interface PluginResources {
  /** One of its resources reads as something else now: whoever follows it is told. */
  changed(uri: string): Promise<null>;
}
