import { Type } from 'typebox';
import Value from 'typebox/value';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { nativeInput, nativeOutput } from './native-schemas.ts';
import { chooseCallTime, type NativeToolParts, runForTool } from './run-native.ts';

type Language = keyof BuiltinSettings['eval_code'];

/** How each language takes its code as an argument: so standard input stays free for the program. */
const programs: Readonly<Record<Language, { readonly command: string; readonly args: readonly string[] }>> = {
  node: { command: 'node', args: ['-e'] },
  python: { command: 'python3', args: ['-c'] },
};

/** One argument of a process holds at most 128 KiB. */
const maxCodeChars = 100_000;

/** `eval_code`: runs code in a container of its own; undefined when no language has an image. */
export function createEvalCode(settings: BuiltinSettings, parts: NativeToolParts): HostedTool | undefined {
  const languages = (['node', 'python'] as const).filter((language) => settings.eval_code[language] !== '');
  if (languages.length === 0) return undefined;
  const input = Type.Object(
    {
      language: Type.Enum(languages, { description: 'What the code is written in.' }),
      code: Type.String({ minLength: 1, maxLength: maxCodeChars, description: 'The program. What it prints is the answer.' }),
      ...nativeInput,
    },
    { additionalProperties: false },
  );
  return {
    name: 'eval_code',
    description: `Runs a program (${languages.join(' or ')}) in a sandbox without network and answers what it printed. Use it to compute, to test an idea or to work on files of the workspace.`,
    input: { ...input },
    output: { ...nativeOutput },
    tags: ['code'],
    who: settings.who.eval_code,
    timeoutMs: chooseCallTime(parts.timeoutMs),
    run: (args, call) => {
      const { language, code, ...rest } = Value.Parse(input, args);
      const { command, args: before } = programs[language];
      return runForTool(parts, rest, { image: settings.eval_code[language], command, args: [...before, code] }, call);
    },
  };
}
