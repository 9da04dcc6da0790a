import type { CapabilityTable } from '../../border/capability.ts';
import type { NativeCommand } from '../../border/native-command.ts';
import { createDenial } from '../../capabilities/denial.ts';
import type { HostedCall } from '../../tools/hosted/hosted-types.ts';
import type { NativeAnswer, NativeArguments } from './native-schemas.ts';

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
