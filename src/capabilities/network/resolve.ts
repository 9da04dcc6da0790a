import { lookup } from 'node:dns/promises';
import { raceAbort } from '../../concurrency/race-abort.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

/** All addresses of a name, as text. Rejects when there is none; aborting `signal` ends the wait. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Asks the resolver of the operating system, so that names mean what they mean to other programs here. */
export const resolveBySystem: Resolve = async (host, signal) => {
  try {
    // The system's look-up cannot be stopped: it goes on unheard.
    const answers = await raceAbort(lookup(host, { all: true, order: 'verbatim' }), signal);
    return answers.map((answer) => answer.address);
  } catch (cause) {
    signal.throwIfAborted();
    throw new HotcellError('network-failed', `The name ${host} cannot be resolved.`, {
      cause,
      fix: 'Check the name of the host.',
    });
  }
};
