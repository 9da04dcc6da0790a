import { tell } from '../border.ts';
import { inspect } from './inspect.ts';

/** Where errors go that nobody can catch (a timer's, a listener's): into the log of the call. */
export function reportError(error: unknown): void {
  tell('log', JSON.stringify({ level: 'error', text: `Uncaught ${inspect(error)}` }));
}
