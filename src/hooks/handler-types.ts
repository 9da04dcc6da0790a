import type { PluginContext } from '../plugins/plugin-context.ts';

/** What a handler finds in `event.context`, by the event that it subscribed to. */
export interface HookContexts {
  'tool:before': CallFacts & { readonly arguments: Readonly<Record<string, unknown>>; readonly caller: string };
  'tool:after': CallFacts & {
    readonly executionId: string;
    readonly status: 'success' | 'error' | 'timeout' | 'cancelled';
    readonly durationMs: number;
    readonly caller: string | null;
    /** Absent, like `output`, when both together are too large to be told: `isCut` is true then. */
    readonly arguments?: unknown;
    readonly output?: unknown;
    readonly error?: { readonly code: string; readonly message: string };
    readonly isCut?: true;
  };
  'plugin:reload': {
    readonly plugin: string;
    readonly state: string;
    readonly previousState: string;
    readonly reason: string;
    readonly generation?: number;
  };
  'daemon:start': { readonly version: string; readonly url: string };
  'daemon:stop': { readonly reason: string };
}

interface CallFacts {
  readonly tool: string;
  readonly version: string;
  readonly plugin: string;
  readonly session: string;
  /** The execution that made the call, for a call within a call. */
  readonly parent?: string;
}

/** What a hook is told. */
export interface HookTold<Event extends keyof HookContexts = keyof HookContexts> {
  readonly event: Event;
  /** The two parts of the name under which HOOK.md subscribed. */
  readonly type: string;
  readonly action: string;
  readonly timestamp: Date;
  readonly sessionKey: string;
  readonly context: HookContexts[Event];
  /** Texts for the log. */
  readonly messages: unknown[];
}

/** What a handler of `tool:before` may answer; of all other events the answer counts for nothing. */
export type HookAnswer = undefined | null | { readonly veto: string } | { readonly arguments: Readonly<Record<string, unknown>> };

/** The default export of a handler: `const guard: HookHandler<'tool:before'> = (event, context) => …`. */
export type HookHandler<Event extends keyof HookContexts = keyof HookContexts> = (
  event: HookTold<Event>,
  context: Omit<PluginContext, 'tools' | 'confirm' | 'ask' | 'client' | 'resources'>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is the usual one
) => HookAnswer | void | Promise<HookAnswer | void>;
