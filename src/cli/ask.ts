import type { CliIo } from './io.ts';

/** What a person said to a question that may wait. */
export type Answer = 'yes' | 'no' | 'later';

/** Asks for yes, no or later; everything but a clear yes or no is later. Undefined when nobody can be asked, or nobody answered. */
export async function askAnswer(io: CliIo, question: string): Promise<Answer | undefined> {
  const said = await io.ask?.(
    `${question} [y]es, [n]o, [l]ater: `,
    AbortSignal.any([io.signal].filter((each) => each !== undefined)),
  );
  if (said === undefined) return undefined;
  if (/^\s*y(?:es)?\s*$/i.test(said)) return 'yes';
  return /^\s*no?\s*$/i.test(said) ? 'no' : 'later';
}

/**
 * Asks the person at the terminal for yes or no; everything but a clear yes is a no. Undefined when nobody can be asked, or
 * nobody answered before the end of the input or of `signal`.
 */
export async function askYesNo(io: CliIo, question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const signals = [io.signal, signal].filter((each) => each !== undefined);
  const answer = await io.ask?.(`${question} [y/N] `, AbortSignal.any(signals));
  return answer === undefined ? undefined : /^\s*y(?:es)?\s*$/i.test(answer);
}
