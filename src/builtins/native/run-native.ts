import { type Static, Type } from 'typebox';
import type { CapabilityTable } from '../../border/capability.ts';
import type { NativeCommand } from '../../border/container-command.ts';
import { createDenial } from '../../capabilities/permission-denial.ts';
import type { HostedCall } from '../../tools/hosted/hosted-types.ts';

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
type NativeArguments = {
  readonly [Name in keyof typeof nativeInput]?: Static<(typeof nativeInput)[Name]>;
};

/** How a run ended, as callers see it. */
type NativeAnswer = Readonly<Static<typeof nativeOutput>>;

/** What such tools are made of. */
export interface NativeToolParts {
  readonly native: CapabilityTable['native'];
  /** The most time of one command, which is also the usual one. */
  readonly timeoutMs: number;
}

/** Time beside that of the command: for its place in the queue, its container and its files. */
const spareMs = 30_000;

/** The deadline of a call whose command gets `timeoutMs`. */
export function chooseCallTime(timeoutMs: number): number {
  return timeoutMs + spareMs;
}

/**
 * Runs a command for a tool of the daemon: what it writes goes into the log as it comes. Throws `permission-denied` when the
 * network is asked for and no host is granted.
 */
export async function runForTool(
  { native, timeoutMs }: NativeToolParts,
  args: NativeArguments,
  command: Pick<NativeCommand, 'image' | 'command' | 'args' | 'cpus' | 'own' | 'env'>,
  { user, signal, onOutput }: HostedCall,
): Promise<NativeAnswer> {
  const { stdin, files = [], network = false } = args;
  if (network && (user.granted().net ?? []).length === 0) {
    throw createDenial(user, { key: 'net', entry: 'api.example.com', tried: 'use the network' });
  }
  const result = await native(
    {
      ...command,
      paths: files,
      network,
      timeoutMs: Math.min(args.timeoutMs ?? timeoutMs, timeoutMs),
      onOutput,
      ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
    },
    user,
    signal,
  );
  const texts = { stdout: toText(result.stdout), stderr: toText(result.stderr) };
  return { ...result, ...texts, files: [...result.files], left: [...result.left] };
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
