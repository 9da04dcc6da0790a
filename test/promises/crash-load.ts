import type { CallAnswer } from '../../src/calls/call-types.ts';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import type { DaemonProcess } from './daemon-process.ts';

/** A keyed call of which nobody knows whether it ran: the daemon was killed before it answered. */
export interface Unanswered {
  readonly tool: 'quick' | 'slow';
  readonly key: string;
  readonly n: number;
}

/** What callers know after the daemon was killed under them. */
export interface CrashNotes {
  readonly answered: ReadonlyArray<{ readonly answer: CallAnswer; readonly n: number; readonly key: string | undefined }>;
  readonly unanswered: readonly Unanswered[];
  /** Answers that no call should get, whatever happens to the daemon. */
  readonly wrong: readonly unknown[];
}

/** The plugins that crash tests call. What is drawn while the module is evaluated tells one evaluation from the next. */
export const crashPlugins: Readonly<Record<string, string>> = {
  'quick.ts': `const born = [Date.now(), Math.random()].join();
export default {
  name: 'quick',
  description: 'Doubles.',
  handler: (args: { n: number }) => ({ n: args.n * 2, born }),
};
`,
  'slow.ts': `export default {
  name: 'slow',
  description: 'Answers after a minute.',
  handler: async (args: { n: number }) => {
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    return args.n;
  },
};
`,
};

/** Calls from many sides, every second call with a key, until the daemon is gone. */
export function startCrashLoad(daemon: DaemonProcess, round: number): { firstAnswer: Promise<void>; ended: Promise<CrashNotes> } {
  const answered: Array<CrashNotes['answered'][number]> = [];
  const unanswered: Unanswered[] = [];
  const wrong: unknown[] = [];
  const first = Promise.withResolvers<void>();

  async function callOnce(tool: 'quick' | 'slow', n: number, key: string | undefined): Promise<boolean> {
    try {
      const answer = await daemon.call(tool, { n }, key === undefined ? {} : { idempotencyKey: key });
      answered.push({ answer, n, key });
      first.resolve();
      return true;
    } catch (error) {
      if (!(error instanceof HotcellError) || error.code === 'daemon-unreachable') {
        if (key !== undefined) unanswered.push({ tool, key, n });
      } else wrong.push(error);
      return false;
    }
  }

  async function keepCalling(caller: number): Promise<void> {
    for (let n = caller; ; n += 20) {
      if (!(await callOnce('quick', n, n % 2 === 0 ? `quick-${round}-${n}` : undefined))) return;
    }
  }

  const callers = Array.from({ length: 20 }, (_, caller) => keepCalling(caller));
  const slow = Array.from({ length: 5 }, (_, n) => callOnce('slow', n, `slow-${round}-${n}`));
  return { firstAnswer: first.promise, ended: Promise.all([...callers, ...slow]).then(() => ({ answered, unanswered, wrong })) };
}

/** Random numbers that a printed seed repeats (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
