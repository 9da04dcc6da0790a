import type { CliIo } from './io.ts';

/**
 * Asks the person at the terminal for yes or no; everything but a clear yes is a no. Undefined when nobody can be asked, or
 * nobody answered before the end of the input or of `signal`.
 */
export async function askYesNo(io: CliIo, question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const signals = [io.signal, signal].filter((each) => each !== undefined);
  const answer = await io.ask?.(`${question} [y/N] `, AbortSignal.any(signals));
  return answer === undefined ? undefined : /^\s*y(?:es)?\s*$/i.test(answer);
}
