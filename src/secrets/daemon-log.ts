import pino from 'pino';

/** Where the lines go, and which are written. */
interface LogTarget {
  readonly level: string;
  /** What stands in every line; the process and the machine when absent. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** Takes a line of JSON with its line break. */
  readonly write: (line: string) => void;
}

/** The log of a daemon, the same behind every door: the secrets that the daemon knows are in none of its lines. */
export type DaemonLog = ReturnType<typeof createDaemonLog>;

/** Makes the log of one daemon; without a target it says nothing. */
export function createDaemonLog(target?: LogTarget) {
  if (target === undefined) return { logger: pino({ level: 'silent' }), redactWith: () => undefined };
  const { write, level, base } = target;
  let redact = (json: string): string => json;
  return {
    logger: pino({ level, ...(base && { base }) }, { write: (line: string) => write(`${redact(line.trimEnd())}\n`) }),
    /** Hands over what takes secrets out of a line of JSON; called before anything is logged that may hold one. */
    redactWith(given: (json: string) => string): void {
      redact = given;
    },
  };
}
