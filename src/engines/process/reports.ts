import { maxOutputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import type { GuestError, StackFrame } from '../engine.ts';
import { toGuestError } from '../guest-errors.ts';
import type { ThrowReport } from '../throw-report.ts';

/** Where a bundle lies in a container while Node imports it: the name that it has in a stack. */
export const guestModule = '/tmp/plugin.mjs';

/**
 * A failure of the plugin with the frames that lie in its bundle: `isBundle` knows the bundle's name in a stack. All other
 * frames are of the runtime, and name files of this machine.
 */
export function explainThrown(
  report: ThrowReport,
  fallback: 'handler-threw' | 'load-failed',
  isBundle: (file: string) => boolean,
): GuestError {
  const error = toGuestError(report, fallback);
  return { ...error, frames: error.frames.filter(({ file }) => isBundle(file)).map(toBundleFrame) };
}

/** Reads what a handler returned. */
export function readReturned(
  text: string,
):
  | { readonly status: 'success'; readonly output: unknown; readonly outputJson: string }
  | { readonly status: 'error'; readonly error: GuestError } {
  const invalid = (message: string) => ({ status: 'error', error: { code: 'output-invalid', message, frames: [] } }) as const;
  if (nestsDeeper(text, maxOutputDepth)) return invalid(`The output nests deeper than ${maxOutputDepth} levels.`);
  try {
    return { status: 'success', output: JSON.parse(text), outputJson: text };
  } catch {
    return invalid('The output is not JSON.');
  }
}

function toBundleFrame({ functionName, line, column }: StackFrame): StackFrame {
  const name = functionName?.replace(/^async /, '');
  return { ...(name === undefined ? {} : { functionName: name }), file: 'plugin.js', line, column };
}
