import type { CommandFile, CommandRequest } from './container-command.ts';

/** A command for a container, with everything decided that is not the caller's to decide. */
export interface NativeCommand {
  readonly image: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin?: Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Files and folders of the workspace that it sees, as far as `read` is granted. */
  readonly paths: readonly string[];
  /** Files of whoever owns the command, in one folder beside those of the workspace; what changes there stays behind. */
  readonly own?: { readonly folder: string; readonly files: readonly CommandFile[] };
  readonly timeoutMs: number;
  readonly cpus?: number;
  /** It may reach what `net` is granted for. */
  readonly network: boolean;
  readonly onOutput?: CommandRequest['onOutput'];
}

/** How it ended: `files` came back to the workspace, `left` did not, because no grant allows it or it is no regular file. */
export interface NativeResult {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly truncated: boolean;
  readonly files: readonly string[];
  readonly left: readonly string[];
}
