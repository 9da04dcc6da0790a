import { type Static, Type } from 'typebox';

/** What every tool that runs a command takes beside the command itself. */
export const nativeInput = {
  stdin: Type.Optional(Type.String({ maxLength: 1_048_576, description: 'Standard input.' })),
  files: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 1000,
      description: 'Files and folders of the workspace that it sees under the same paths.',
    }),
  ),
  network: Type.Optional(Type.Boolean({ description: 'Asks for the network; counts as far as hosts are granted.' })),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, description: 'Ends it earlier than usual.' })),
};

/** How a command ended, as tools answer it. */
export const nativeOutput = Type.Object({
  exitCode: Type.Integer({ description: '128 and the number of the signal where a signal ended it.' }),
  stdout: Type.String(),
  stderr: Type.String(),
  truncated: Type.Boolean({ description: 'More was written than was kept.' }),
  files: Type.Array(Type.String(), { description: 'What it wrote that is in the workspace now.' }),
  left: Type.Array(Type.String(), { description: 'What it wrote that stayed behind.' }),
});

/** What a caller may say about a run, whatever runs. */
export type NativeArguments = {
  readonly [Name in keyof typeof nativeInput]?: Static<(typeof nativeInput)[Name]>;
};

/** How a run ended, as callers see it. */
export type NativeAnswer = Readonly<Static<typeof nativeOutput>>;
