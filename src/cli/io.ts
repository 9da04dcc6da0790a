import type { StartDaemon } from '../operations/daemon-types.ts';
import type { SchemaReader } from '../plugins/schema/schema-types.ts';

/** Where a command reads and writes: everything that it may touch of the process it runs in. */
export interface CliIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** The whole standard input, asked for by commands that read it. */
  readonly readStdin: () => Promise<string>;
  /** Asks a person for one line that is not shown; only where a person types. */
  readonly askHidden?: ((question: string) => Promise<string>) | undefined;
  /** Asks the person at the terminal for one line; absent without a terminal, undefined when nobody answered any more. */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whether a person looks at stdout. */
  readonly isTTY: boolean;
  /** Width of the terminal in columns. */
  readonly columns?: number | undefined;
  /** Aborts when the person or the system wants the command to end. */
  readonly signal?: AbortSignal | undefined;
  /** Loads the composition root; only for commands that run a daemon in this process. */
  readonly loadDaemon: () => Promise<{ readonly startDaemon: StartDaemon }>;
  /** Reads types for all commands of one process, and is closed with none of them. */
  readonly schemaReader?: SchemaReader;
}
