import { type BuildFailure, type BuildOptions, type BuildResult, build, stop } from 'esbuild';

/** How one build ended. */
export type BundleOutcome =
  | { readonly kind: 'built'; readonly result: BuildResult<{ write: false }> }
  | { readonly kind: 'failed'; readonly failure: BuildFailure }
  /** The bundler did not finish in time, or died on the input. */
  | { readonly kind: 'overwhelmed'; readonly reason: 'time' | 'crash' };

/**
 * Runs a build in esbuild's one service of this process. Input that kills or blocks the service (deep nesting overflows
 * its stack) ends as `overwhelmed`; the service starts anew, and other builds that died with it are run again by themselves.
 */
export async function runBundle(options: BuildOptions & { write: false }, wallMs: number): Promise<BundleOutcome> {
  const outcome = await attempt(options, wallMs);
  if (outcome.kind !== 'overwhelmed' || outcome.reason === 'time') return outcome;
  const turn = retryTurn.then(() => attempt(options, wallMs));
  retryTurn = turn.then(
    () => undefined,
    () => undefined,
  );
  return turn;
}

// Builds whose service died are tried one after the other, so that the guilty one takes no second victim with it.
let retryTurn: Promise<void> = Promise.resolve();
let stopping: Promise<void> | undefined;

/** Ends the service of this process; the next build starts it again. */
export function stopBundler(): Promise<void> {
  stopping ??= Promise.resolve(stop()).finally(() => {
    stopping = undefined;
  });
  return stopping;
}

async function attempt(options: BuildOptions & { write: false }, wallMs: number): Promise<BundleOutcome> {
  await stopping;
  const wall = Promise.withResolvers<'time'>();
  const timer = setTimeout(() => wall.resolve('time'), wallMs);
  try {
    const result = await Promise.race([build(options), wall.promise]);
    if (result !== 'time') return { kind: 'built', result };
    await stopBundler();
    return { kind: 'overwhelmed', reason: 'time' };
  } catch (error) {
    if (isBuildFailure(error)) return { kind: 'failed', failure: error };
    if (!(error instanceof Error) || !/service (was stopped|is no longer running)|EPIPE/.test(error.message)) throw error;
    await stopBundler();
    return { kind: 'overwhelmed', reason: 'crash' };
  } finally {
    clearTimeout(timer);
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors) && 'warnings' in error;
}
