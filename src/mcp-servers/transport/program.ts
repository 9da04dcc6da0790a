import type { Readable, Writable } from 'node:stream';

/** How a program ended by itself: as a sentence, and whether its own last words say more. */
export interface ProgramEnd {
  readonly sentence: string;
  readonly hasLastWords: boolean;
}

/** A program that speaks MCP over its standard streams, wherever it runs. */
export interface RunningProgram {
  /** Of a process of this machine. */
  readonly pid?: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when nothing more comes of it. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it to end with all that it started, or ends it. Must not throw. */
  signal(how: 'SIGTERM' | 'SIGKILL'): void;
}
