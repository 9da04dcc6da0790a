import type { ToolUsers } from '../config/settings/builtin-settings.ts';

/** A JSON Schema object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where the input schema of a tool came from. */
export type SchemaSource = 'parameters' | 'type' | 'usage' | 'none';

/** `on` is always shown to models, `auto` where it fits what is asked, `off` is neither shown nor run. */
export type ToolMode = 'on' | 'off' | 'auto';

/** One tool as a plugin declares it. */
export interface ToolManifest {
  /** The name of the tool: the plugin's name for a single handler, else its key in `tools`. */
  readonly name: string;
  /** The key that engines know the handler by: `default` or the key in `tools`. */
  readonly handler: string;
  readonly description: string;
  readonly usage?: string;
  readonly input: JsonSchema;
  readonly inputSource: SchemaSource;
  readonly output?: JsonSchema;
  /** The plugin has schema objects that check these inside the sandbox: `input` and `output` only describe them. */
  readonly checkedByPlugin?: readonly ('input' | 'output')[];
  readonly flags: ToolFlags;
  readonly tags: readonly string[];
  readonly mode: ToolMode;
  /** Who uses it; `model` when absent. Of `both` a person lets every call begin, `person` is for admins only. */
  readonly who?: ToolUsers;
  /** For clients that have tasks: always as one, or never; when absent a call that takes long becomes one. */
  readonly task?: 'required' | 'never';
  /** For keys with the rule `code` alone, whatever list of tools they have, and for admins where the config says so. */
  readonly codeRule?: { readonly isForAdmins: boolean };
  readonly timeoutMs?: number;
  readonly retries: number;
  readonly idempotent: boolean;
  readonly examples: ReadonlyArray<{ readonly args: unknown; readonly expect?: unknown }>;
}

/** The flags of a tool, each with an enforced meaning (docs/plugin-format.md). */
export const toolFlags = ['isResearch', 'isSideEffect', 'isDeep', 'isDangerous', 'isElevated', 'isParallelSafe'] as const;

export type ToolFlag = (typeof toolFlags)[number];

/** Which flags a tool has. */
export type ToolFlags = Readonly<Record<ToolFlag, boolean>>;

/** Asks for each flag whether it is set. */
export function setFlags(isSet: (flag: ToolFlag) => boolean): ToolFlags {
  return {
    isResearch: isSet('isResearch'),
    isSideEffect: isSet('isSideEffect'),
    isDeep: isSet('isDeep'),
    isDangerous: isSet('isDangerous'),
    isElevated: isSet('isElevated'),
    isParallelSafe: isSet('isParallelSafe'),
  };
}
