import Type from 'typebox';
import { defaultSettings } from './defaults.ts';

/** Tools of the daemon itself that run code in containers. */
export interface BuiltinSettings {
  /** The image of each language. */
  readonly eval_code: { readonly node?: string; readonly python?: string };
  /** Empty switches it off. */
  readonly execute_command: string;
  readonly who: { readonly eval_code: ToolUsers; readonly execute_command: ToolUsers };
  readonly commandCpus: number;
}

/** Who uses a tool: of `both` a person lets every call begin, `person` is for admins only. */
export type ToolUsers = 'model' | 'person' | 'both';

const image = Type.String({ minLength: 1, maxLength: 256 });
const who = Type.Optional(Type.Enum(['model', 'person', 'both']));
const strict = { additionalProperties: false };
const defaults = defaultSettings.builtins;

/** The section `builtins` of the config. */
export const builtinProperties = {
  eval_code: Type.Optional(
    Type.Object(
      { node: Type.Optional(image), python: Type.Optional(image) },
      {
        ...strict,
        default: { ...defaults.eval_code },
        description: 'Turns the tool `eval_code` on: the image of each language, `{ node: "node:22-alpine" }`.',
      },
    ),
  ),
  execute_command: Type.Optional(
    Type.String({
      maxLength: 256,
      default: defaults.execute_command,
      description: 'Turns the tool `execute_command` on: the image in which commands run.',
    }),
  ),
  who: Type.Optional(
    Type.Object(
      { eval_code: who, execute_command: who },
      {
        ...strict,
        default: { ...defaults.who },
        description: 'Who calls a built-in: `model`, `person` (admins only), `both` (a person lets every call begin).',
      },
    ),
  ),
  commandCpus: Type.Optional(
    Type.Number({
      minimum: 0.01,
      maximum: 64,
      default: defaults.commandCpus,
      description: 'Processors of one `execute_command`.',
    }),
  ),
};
