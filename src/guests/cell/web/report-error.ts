import { warn } from '../warnings.ts';

/** Where errors go that nobody can catch (a timer's, a listener's): into the log and the warnings of the call. */
export function reportError(error: unknown): void {
  warn('error', 'Uncaught', error);
}
