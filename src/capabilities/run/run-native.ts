import type { Duplex } from 'node:stream';
import type { Capability, CapabilityTable } from '../../border/capability.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { CommandFile, RunCommand } from '../../border/container-command.ts';
import type { NativeCommand, NativeResult } from '../../border/native-command.ts';
import { countedAs } from '../../config/anonymous.ts';
import { bringFiles, putBack } from './workspace-files.ts';

/** What commands need of the daemon. */
export interface NativeParts {
  readonly runCommand: RunCommand;
  readonly settings: { readonly scratchBytes: number; readonly maxOutputBytes: number };
  /** `context.files`, by which files come and go: with its grants, limits and quota. */
  readonly files: Capability;
  readonly dial: CapabilityTable['dial'];
}

/**
 * Runs one command in a container: the workspace in, the command, the workspace out. Rejects like `RunCommand`, and with
 * `permission-denied`, `file-refused`, `file-failed` and `quota-exceeded` for its files.
 */
export async function runNative(
  parts: NativeParts,
  native: NativeCommand,
  user: CapabilityUser,
  signal: AbortSignal,
): Promise<NativeResult> {
  const { settings, files, runCommand } = parts;
  const { image, command, args, stdin, env, own, timeoutMs, cpus, onOutput } = native;
  const ownFiles = own?.files.map(({ path, data }) => ({ path: `${own.folder}/${path}`, data })) ?? [];
  const sent = await bringFiles(files, native.paths, { user, signal, maxBytes: settings.scratchBytes });
  const granted = user.granted();
  const mayWrite = (granted.write ?? []).length > 0;
  const mayDial = native.network && (granted.net ?? []).length > 0;
  const dial = (to: { host: string; port: number }, dialSignal: AbortSignal): Promise<Duplex> => parts.dial(to, user, dialSignal);
  const result = await runCommand(
    {
      id: user.executionId,
      holder: {
        callerId: countedAs(user.caller),
        unitPath: user.unitPath,
        isAdmin: user.isAdmin === true,
      },
      image,
      command,
      args,
      // The owner's files win: nobody slips another program under a name that was approved.
      files: [...sent.filter(({ path }) => own === undefined || !isIn(own.folder, path)), ...ownFiles],
      timeoutMs,
      maxOutputBytes: settings.maxOutputBytes,
      ...(stdin === undefined ? {} : { stdin }),
      ...(env === undefined ? {} : { env }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(onOutput === undefined ? {} : { onOutput }),
      ...(mayWrite ? { collectBytes: settings.scratchBytes } : {}),
      ...(mayDial ? { dial } : {}),
    },
    signal,
  );
  const isOwn = ({ path }: CommandFile): boolean => own !== undefined && isIn(own.folder, path);
  const { written, left } = await putBack(
    files,
    result.files.filter((file) => !isOwn(file)),
    { user, signal },
  );
  return {
    exitCode: result.exitCode,
    stdout: result.stdout,
    stderr: result.stderr,
    truncated: result.truncated,
    files: written,
    left: [...left, ...result.files.filter(isOwn).map(({ path }) => path), ...result.refused],
  };
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
