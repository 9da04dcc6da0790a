import { type TObject, Type } from 'typebox';
import Value from 'typebox/value';
import type { ToolUsers } from '../config/settings/builtin-settings.ts';
import type { HostedTool } from '../tools/hosted/hosted-types.ts';

/** What a model is told of what it asked for. */
export interface AuthoringAnswer {
  readonly repair: string;
  readonly state: string;
  /** What comes next, as a sentence. */
  readonly message: string;
}

/** An API for which a plugin is made: by the address or file of its description, or by the text of it. */
export interface ApiOrder {
  readonly source?: string;
  readonly text?: string;
  /** The operations of the API that become tools; all when absent. */
  readonly operations?: readonly string[];
  /** Where the API is, in place of what the description says. */
  readonly server?: string;
  /** Whoever asks may have any public address read; others those that the operator named. */
  readonly isPublic: boolean;
}

/** Writes and mends plugins for models: everything goes through a trial, and waits for a person unless the operator lets it go on. */
export interface PluginAuthoring {
  create(
    wish: {
      readonly name: string;
      /** With `api` it is what a model is to make of the plugin; without, it stays as it was made. */
      readonly description?: string;
      readonly code?: string;
      readonly examples?: readonly unknown[];
      readonly api?: ApiOrder;
    },
    by: string,
  ): Promise<AuthoringAnswer>;
  /** Proposes what changed of the description that a plugin was made from; undefined when nothing did. */
  refresh(plugin: string, api: Pick<ApiOrder, 'source' | 'text' | 'isPublic'>, by: string): Promise<AuthoringAnswer | undefined>;
  /** `blocks`: changes as a repair writes them. */
  tweak(wish: { readonly plugin: string; readonly blocks: string; readonly note: string }, by: string): Promise<AuthoringAnswer>;
  repair(plugin: string): Promise<AuthoringAnswer>;
}

const plugin = Type.String({ minLength: 1, maxLength: 512, description: 'Name or path of the plugin.' });
const strict = { additionalProperties: false };
const inputs = {
  create_custom_skill: Type.Object(
    {
      name: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,47}$', description: 'Of the plugin and its tool.' }),
      description: Type.String({ minLength: 1, maxLength: 2000, description: 'What it does and when to use it.' }),
      code: Type.Optional(
        Type.String({
          maxLength: 40_000,
          description:
            'A whole module with a default export, or the body of its handler(args, context). Without it the model of the daemon writes it.',
        }),
      ),
      examples: Type.Optional(
        Type.Array(Type.Unknown(), { maxItems: 20, description: '[{ args, expect }]: what shows that it works.' }),
      ),
      source: Type.Optional(
        Type.String({
          maxLength: 2000,
          pattern: '^https?://',
          description:
            'The address of the OpenAPI description of an API: every operation becomes a tool. The operator names the hosts that may be read.',
        }),
      ),
      operations: Type.Optional(
        Type.Array(Type.String({ maxLength: 200 }), { maxItems: 64, description: 'Of its operations these, by operationId.' }),
      ),
    },
    strict,
  ),
  tweak_skill: Type.Object(
    {
      plugin,
      blocks: Type.String({
        minLength: 1,
        maxLength: 100_000,
        description:
          'Lines <<<<<<< SEARCH file.ts, the old lines, =======, the new lines, >>>>>>> REPLACE; or WHOLE … END for a whole file.',
      }),
      note: Type.String({ minLength: 1, maxLength: 500, description: 'What it changes and why, in one sentence.' }),
    },
    strict,
  ),
  self_repair_skill: Type.Object({ plugin }, strict),
} as const satisfies Readonly<Record<string, TObject>>;

const descriptions = {
  create_custom_skill: 'Writes a new plugin with one tool. It is tried in a sandbox, and waits for a person who looks at it.',
  tweak_skill:
    'Proposes a change of a plugin. It is tried with the examples and recorded calls of the plugin, and waits for a person.',
  self_repair_skill: 'Has a plugin that failed repaired, and says what came of it.',
} as const;

/** A tool by which models write or mend plugins. */
export function createAuthoringTool(name: keyof typeof inputs, authoring: () => PluginAuthoring, who: ToolUsers): HostedTool {
  return {
    name,
    description: descriptions[name],
    input: { ...inputs[name] },
    who,
    tags: ['plugins'],
    flags: { isSideEffect: true },
    timeoutMs: 10 * 60_000,
    run(args, { user }) {
      switch (name) {
        case 'create_custom_skill': {
          const { source, operations, ...wish } = Value.Parse(inputs.create_custom_skill, args);
          const api = source === undefined ? {} : { api: { source, isPublic: false, ...(operations && { operations }) } };
          // The description of an API says what its plugin does.
          return authoring().create({ ...wish, ...api }, user.caller);
        }
        case 'tweak_skill':
          return authoring().tweak(Value.Parse(inputs.tweak_skill, args), user.caller);
        case 'self_repair_skill':
          return authoring().repair(Value.Parse(inputs.self_repair_skill, args).plugin);
      }
    },
  };
}
