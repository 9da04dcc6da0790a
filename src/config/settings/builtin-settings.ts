import Type from 'typebox';
import type { FilledSection } from './filled.ts';
import { choice, decimal, flag, section, text, whole } from './setting-kinds.ts';

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

function who(value: ToolUsers, tool: string) {
  const description = `Who calls \`${tool}\`: \`person\` admins only, \`both\` when a person lets the call begin.`;
  return choice(['model', 'person', 'both'], value, description);
}

/** The section `builtins` of the config. */
export const builtinProperties = {
  tools: Type.Optional(
    Type.Array(Type.Enum(optionalBuiltins), {
      uniqueItems: true,
      default: [],
      description: `Built-in tools that are on: ${optionalBuiltins.join(', ')}.`,
    }),
  ),
  net: choice(
    ['public', 'granted'],
    'public',
    'Where `http_request`, `web_fetch` and `browser` may go: to every public host, or only to granted ones.',
  ),
  maxHttpResponseBytes: whole(
    256_000,
    1,
    2_097_152,
    'Bytes of a body that `http_request` answers; the rest is cut, and `truncated` says so.',
  ),
  eval_code: section({
    node: text('', 'Image for JavaScript in the tool `eval_code`; without one it does not know the language.'),
    python: text('', 'Image for Python in the tool `eval_code`; without any image there is no such tool.'),
  }),
  execute_command: text('', 'Image for the commands of the tool `execute_command`; without one there is no such tool.'),
  who: section({
    eval_code: who('both', 'eval_code'),
    execute_command: who('person', 'execute_command'),
    file_read: who('model', 'file_read'),
    file_write: who('model', 'file_write'),
    http_request: who('model', 'http_request'),
    web_fetch: who('model', 'web_fetch'),
    web_search: who('model', 'web_search'),
    browser: who('person', 'browser'),
    schedule_task: who('model', 'schedule_task'),
    create_custom_skill: who('model', 'create_custom_skill'),
    tweak_skill: who('model', 'tweak_skill'),
    self_repair_skill: who('model', 'self_repair_skill'),
  }),
  browser: section({
    executable: text('', 'Chromium for the tool `browser`; empty for the first one on the path.', {
      maxLength: 1024,
      pattern: '^(?:/.*)?$',
    }),
    sandbox: flag(
      true,
      'Pages run in the sandbox of the browser. `false` only where the whole daemon is in a container that cannot have it.',
    ),
  }),
  codeForAdmins: flag(false, 'Admins have `search_code` and `run_code` by their role; else keys with the rule `code` alone.'),
  commandCpus: decimal(0.1, 0.01, 64, 'Processors of one `execute_command`.'),
};

/** Tools of the daemon itself, and what holds for them. */
export type BuiltinSettings = FilledSection<typeof builtinProperties>;
/** The browser of the tool `browser`. */
export type BrowserSettings = BuiltinSettings['browser'];
