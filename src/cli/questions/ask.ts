import type { CliIo } from '../io.ts';

/** What a person said to a question that may wait. */
export type Answer = 'yes' | 'no' | 'later';

const isYes = /^\s*y(?:es)?\s*$/i;
const isNo = /^\s*no?\s*$/i;
const unclear = 'That was neither.';

/** Asks for yes, no or later until one of them is said; an empty line is later. Undefined when nobody can be asked, or nobody answered. */
export async function askAnswer(io: CliIo, question: string): Promise<Answer | undefined> {
  const signal = AbortSignal.any([io.signal].filter((each) => each !== undefined));
  for (let text = question; ; text = unclear) {
    const said = await io.ask?.(`${text} [y]es, [n]o, [l]ater: `, signal);
    if (said === undefined) return undefined;
    if (isYes.test(said)) return 'yes';
    if (isNo.test(said)) return 'no';
    if (/^\s*(?:l(?:ater)?)?\s*$/i.test(said)) return 'later';
  }
}

/**
 * Asks the person at the terminal for yes or no until one of them is said; an empty line is a no. Undefined when nobody can be asked, or
 * nobody answered before the end of the input or of `signal`.
 */
export async function askYesNo(io: CliIo, question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const signals = [io.signal, signal].filter((each) => each !== undefined);
  for (let text = question; ; text = unclear) {
    const said = await io.ask?.(`${text} [y/N] `, AbortSignal.any(signals));
    if (said === undefined) return undefined;
    if (isYes.test(said)) return true;
    if (isNo.test(said) || said.trim() === '') return false;
  }
}
