import type { GuestError } from '../../engines/engine.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { createTracer, findOwnFrame, type TraceArtifacts } from './trace.ts';

const slowFix =
  'Move the work into the handler, since a file that loads only says what its tools are; or raise limits.cpuMs in the config.';

/** Turns a failure of a trial load into a diagnostic with the place in the user's own file. */
export async function explainLoadError(
  error: GuestError,
  artifacts: { readonly sourceMap?: string | undefined; readonly sources: TraceArtifacts['sources'] },
): Promise<Diagnostic> {
  const { sourceMap, sources } = artifacts;
  const tracer = createTracer({
    readArtifacts: async () => {
      if (sourceMap === undefined) throw new Error('a module without a source map');
      return { sourceMap, sources };
    },
  });
  const traced = await tracer.explain(error, { id: 'load' });
  const top = findOwnFrame(traced.frames);
  const named = traced.name === undefined ? '' : `${traced.name}: `;
  return {
    code: traced.code,
    message: `${named}${traced.message}`,
    ...(top ? { file: top.file, line: top.line, column: top.column } : {}),
    ...(traced.codeFrame === undefined ? {} : { codeFrame: traced.codeFrame }),
    fix: traced.code === 'time-exceeded' ? slowFix : traced.fix,
  };
}
