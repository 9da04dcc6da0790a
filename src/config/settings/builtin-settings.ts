import Type from 'typebox';
import { defaultSettings } from '../defaults.ts';
import type { FilledSection } from './filled.ts';

/** Tools of the daemon itself that are there where the config names them. */
export const optionalBuiltins = [
  'file_read',
  'file_write',
  'http_request',
  'web_fetch',
  'web_search',
  'browser',
  'schedule_task',
  'create_custom_skill',
  'tweak_skill',
  'self_repair_skill',
] as const;
/** The name of one. */
export type OptionalBuiltin = (typeof optionalBuiltins)[number];

/** Who uses a tool: of `both` a person lets every call begin, `person` is for admins only. */
export type ToolUsers = 'model' | 'person' | 'both';

const strict = { additionalProperties: false };
const defaults = defaultSettings.builtins;

function image(description: string) {
  return Type.Optional(Type.String({ maxLength: 256, default: '', description }));
}

function who(value: ToolUsers, tool: string) {
  const description = `Who calls \`${tool}\`: \`person\` admins only, \`both\` when a person lets the call begin.`;
  return Type.Optional(Type.Enum(['model', 'person', 'both'], { default: value, description }));
}

/** The section `builtins` of the config. */
export const builtinProperties = {
  tools: Type.Optional(
    Type.Array(Type.Enum(optionalBuiltins), {
      uniqueItems: true,
      default: [...defaults.tools],
      description: `Built-in tools that are on: ${optionalBuiltins.join(', ')}.`,
    }),
  ),
  net: Type.Optional(
    Type.Enum(['public', 'granted'], {
      default: defaults.net,
      description: 'Where `http_request`, `web_fetch` and `browser` may go: to every public host, or only to granted ones.',
    }),
  ),
  maxHttpResponseBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_097_152,
      default: defaults.maxHttpResponseBytes,
      description: 'Bytes of a body that `http_request` answers; the rest is cut, and `truncated` says so.',
    }),
  ),
  eval_code: Type.Optional(
    Type.Object(
      {
        node: image('Image for JavaScript in the tool `eval_code`; without one it does not know the language.'),
        python: image('Image for Python in the tool `eval_code`; without any image there is no such tool.'),
      },
      strict,
    ),
  ),
  execute_command: image('Image for the commands of the tool `execute_command`; without one there is no such tool.'),
  who: Type.Optional(
    Type.Object(
      {
        eval_code: who(defaults.who.eval_code, 'eval_code'),
        execute_command: who(defaults.who.execute_command, 'execute_command'),
        file_read: who(defaults.who.file_read, 'file_read'),
        file_write: who(defaults.who.file_write, 'file_write'),
        http_request: who(defaults.who.http_request, 'http_request'),
        web_fetch: who(defaults.who.web_fetch, 'web_fetch'),
        web_search: who(defaults.who.web_search, 'web_search'),
        browser: who(defaults.who.browser, 'browser'),
        schedule_task: who(defaults.who.schedule_task, 'schedule_task'),
        create_custom_skill: who(defaults.who.create_custom_skill, 'create_custom_skill'),
        tweak_skill: who(defaults.who.tweak_skill, 'tweak_skill'),
        self_repair_skill: who(defaults.who.self_repair_skill, 'self_repair_skill'),
      },
      strict,
    ),
  ),
  browser: Type.Optional(
    Type.Object(
      {
        executable: Type.Optional(
          Type.String({
            pattern: '^(?:/.*)?$',
            maxLength: 1024,
            default: defaults.browser.executable,
            description: 'Chromium for the tool `browser`; empty for the first one on the path.',
          }),
        ),
        sandbox: Type.Optional(
          Type.Boolean({
            default: defaults.browser.sandbox,
            description:
              'Pages run in the sandbox of the browser. `false` only where the whole daemon is in a container that cannot have it.',
          }),
        ),
      },
      strict,
    ),
  ),
  codeForAdmins: Type.Optional(
    Type.Boolean({
      default: defaults.codeForAdmins,
      description: 'Admins have `search_code` and `run_code` by their role; else keys with the rule `code` alone.',
    }),
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

/** Tools of the daemon itself, and what holds for them. */
export type BuiltinSettings = FilledSection<typeof builtinProperties>;
/** The browser of the tool `browser`. */
export type BrowserSettings = BuiltinSettings['browser'];
