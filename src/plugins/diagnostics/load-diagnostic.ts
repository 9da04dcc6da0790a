import { omitUndefined } from '../../config/json-object.ts';
import type { GuestError } from '../../engines/engine.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { findOwnFrame, type TraceArtifacts, traceLoad } from './trace.ts';

const slowFix =
  'Move the work into the handler, since a file that loads only says what its tools are; or raise limits.cpuMs in the config.';

const largeFix =
  'Import less, or a smaller package, and read large data in the handler; or raise limits.memoryBytes in the config, which counts for loads.';

const loadFixes: Partial<Record<ErrorCode, string>> = { 'time-exceeded': slowFix, 'memory-exceeded': largeFix };

/** Turns a failure of a trial load into a diagnostic with the place in the user's own file. */
export function explainLoadError(
  error: GuestError,
  artifacts: TraceArtifacts,
  /** What was told of variables that the file reads too early: what they lack is probably why it threw. */
  earlyReads?: string,
): Diagnostic {
  const traced = traceLoad(error, artifacts);
  const top = findOwnFrame(traced.frames);
  const named = traced.name === undefined ? '' : `${traced.name}: `;
  return {
    code: traced.code,
    message: `${named}${traced.message}`,
    ...omitUndefined({ file: top?.file, line: top?.line, column: top?.column, codeFrame: traced.codeFrame }),
    fix: (traced.code === 'load-failed' ? earlyReads : loadFixes[traced.code]) ?? traced.fix,
  };
}
