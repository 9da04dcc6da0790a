import type { Duplex } from 'node:stream';
import type { Capability, CapabilityTable } from '../../border/capability.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import type { CommandFile, NativeCommand, NativeResult, RunCommand } from '../../border/container-command.ts';
import { countedAs } from '../../config/counted-callers.ts';
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
  const { paths, own, network, ...command } = native;
  const ownFiles = own?.files.map(({ path, data }) => ({ path: `${own.folder}/${path}`, data })) ?? [];
  const sent = await bringFiles(files, paths, { user, signal, maxBytes: settings.scratchBytes });
  const granted = user.granted();
  const mayWrite = (granted.write ?? []).length > 0;
  const mayDial = network && (granted.net ?? []).length > 0;
  const dial = (to: { host: string; port: number }, dialSignal: AbortSignal): Promise<Duplex> => parts.dial(to, user, dialSignal);
  const result = await runCommand(
    {
      ...command,
      id: user.executionId,
      holder: {
        callerId: countedAs(user.caller),
        unitPath: user.unitPath,
        isAdmin: user.isAdmin === true,
      },
      // The owner's files win: nobody slips another program under a name that was approved.
      files: [...sent.filter(({ path }) => own === undefined || !isIn(own.folder, path)), ...ownFiles],
      maxOutputBytes: settings.maxOutputBytes,
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
  const { exitCode, stdout, stderr, truncated, refused } = result;
  const allLeft = [...left, ...result.files.filter(isOwn).map(({ path }) => path), ...refused];
  return { exitCode, stdout, stderr, truncated, files: written, left: allLeft };
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
