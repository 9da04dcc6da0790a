import { tell } from './border.ts';
import { inspect } from './web/console/inspect.ts';

// What goes wrong in a call without ending it: a line of its log, and one of the warnings of its answer.

const maxText = 2000;

/** Tells a warning of the call; a second value is shown as `console` would. */
export function warn(level: 'warn' | 'error', text: string, value?: unknown): void {
  const whole = value === undefined && level === 'warn' ? text : `${text} ${inspect(value)}`;
  tell('log', JSON.stringify({ level, text: whole.slice(0, maxText), isWarning: true }));
}

/** Where errors go that nobody can catch (a timer's, a listener's): into the log and the warnings of the call. */
export function reportError(error: unknown): void {
  warn('error', 'Uncaught', error);
}
