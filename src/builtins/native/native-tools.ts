import { Type } from 'typebox';
import Value from 'typebox/value';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { chooseCallTime, type NativeToolParts, nativeInput, nativeOutput, runForTool } from './run-native.ts';

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

const commandInput = Type.Object(
  {
    command: Type.String({
      minLength: 1,
      maxLength: 65_000,
      description: 'A command line for the shell of the sandbox, or the name of a program when args is given.',
    }),
    args: Type.Optional(
      Type.Array(Type.String({ maxLength: 65_000 }), {
        maxItems: 990,
        description: 'Its arguments, one an entry; nothing reads them as shell.',
      }),
    ),
    ...nativeInput,
  },
  { additionalProperties: false },
);

/** `execute_command`: runs a command in a container of its own; undefined when it has no image. */
export function createExecuteCommand(settings: BuiltinSettings, parts: NativeToolParts): HostedTool | undefined {
  const image = settings.execute_command;
  if (image === '') return undefined;
  return {
    name: 'execute_command',
    description:
      'Runs a command in a sandbox without network and answers its output and exit code. Files of the workspace must be named in files.',
    input: { ...commandInput },
    output: { ...nativeOutput },
    tags: ['shell'],
    who: settings.who.execute_command,
    timeoutMs: chooseCallTime(parts.timeoutMs),
    run: (written, call) => {
      const { command: text, args, ...rest } = Value.Parse(commandInput, written);
      const program = args === undefined ? { command: 'sh', args: ['-c', text] } : { command: text, args };
      return runForTool(parts, rest, { image, cpus: settings.commandCpus, ...program }, call);
    },
  };
}
