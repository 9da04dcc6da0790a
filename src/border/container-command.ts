import type { Duplex } from 'node:stream';

/** A file by its path below the folder in which a command runs, `/` between names. */
export interface CommandFile {
  readonly path: string;
  readonly data: Uint8Array;
}

/** One command in a container of its own. Nothing of it was chosen by a caller but arguments, input and files. */
export interface CommandRequest {
  /** Names the run for `kill`; more than one run may have it. */
  readonly id: string;
  /** Who waits for it: turns go round over callers. A run that names nobody is counted by its id. */
  readonly holder?: { readonly callerId: string; readonly unitPath: string; readonly isAdmin: boolean };
  /** The image by its name in the allow list. */
  readonly image: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Beside what the image sets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  /** What lies in the folder in which the command runs. */
  readonly files?: readonly CommandFile[];
  /** Bring back the files that the command wrote, up to so many bytes in all. */
  readonly collectBytes?: number;
  readonly timeoutMs: number;
  /** Bytes kept of standard output and of standard error, each. */
  readonly maxOutputBytes: number;
  /** Processors, such as 0.1; one when nobody says. */
  readonly cpus?: number;
  /** Hears what is kept of the output as it comes; the bytes are a view that is gone afterwards. Must not throw. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void;
  /** Opens a connection where the caller may go; without it the command has no network at all. */
  readonly dial?: (to: { readonly host: string; readonly port: number }, signal: AbortSignal) => Promise<Duplex>;
}

/** How a command ended. */
export interface CommandResult {
  /** 128 and the number of the signal for a command that a signal ended. */
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** More was written than was kept. */
  readonly truncated: boolean;
  /** Regular files that are new or changed, sorted by path. */
  readonly files: readonly CommandFile[];
  /** Names of what was not brought back: links, devices, and what no workspace may hold. */
  readonly refused: readonly string[];
}

/**
 * Runs a command. Rejects with a HotcellError whose message may cross to a guest: `docker-missing`, `image-refused`,
 * `image-missing`, `image-changed`, `command-missing`, `time-exceeded`, `memory-exceeded`, `output-exceeded`, `cancelled`,
 * `payload-too-large`, `engine-failed`.
 */
export type RunCommand = (request: CommandRequest, signal: AbortSignal) => Promise<CommandResult>;

/** A command for a container, with everything decided that is not the caller's to decide. */
export interface NativeCommand
  extends Pick<CommandRequest, 'image' | 'command' | 'args' | 'stdin' | 'env' | 'timeoutMs' | 'cpus' | 'onOutput'> {
  /** Files and folders of the workspace that it sees, as far as `read` is granted. */
  readonly paths: readonly string[];
  /** Files of whoever owns the command, in one folder beside those of the workspace; what changes there stays behind. */
  readonly own?: { readonly folder: string; readonly files: readonly CommandFile[] };
  /** It may reach what `net` is granted for. */
  readonly network: boolean;
}

/** How it ended: `files` came back to the workspace, `left` did not, because no grant allows it or it is no regular file. */
export interface NativeResult extends Omit<CommandResult, 'files' | 'refused'> {
  readonly files: readonly string[];
  readonly left: readonly string[];
}
