import { Type } from 'typebox';
import Value from 'typebox/value';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { nativeInput, nativeOutput } from './native-schemas.ts';
import { chooseCallTime, type NativeToolParts, runForTool } from './run-native.ts';

const input = Type.Object(
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
    input: { ...input },
    output: { ...nativeOutput },
    tags: ['shell'],
    who: settings.who.execute_command,
    timeoutMs: chooseCallTime(parts.timeoutMs),
    run: (written, call) => {
      const { command: text, args, ...rest } = Value.Parse(input, written);
      const program = args === undefined ? { command: 'sh', args: ['-c', text] } : { command: text, args };
      return runForTool(parts, rest, { image, cpus: settings.commandCpus, ...program }, call);
    },
  };
}
