import { type BuildFailure, type BuildOptions, type BuildResult, build, stop } from 'esbuild';

/** How one build ended. */
export type BundleOutcome =
  | { readonly kind: 'built'; readonly result: BuildResult<{ write: false }> }
  | { readonly kind: 'failed'; readonly failure: BuildFailure }
  /** The bundler did not finish in time, or died on the input. */
  | { readonly kind: 'overwhelmed'; readonly reason: 'time' | 'crash' }
  /** It can never finish, as `findObstacle` found out. */
  | { readonly kind: 'stuck'; readonly obstacle: string };

/** How long a build may take. */
export interface BundleBounds {
  readonly wallMs: number;
  /** Asked once when a build takes long: what it waits for and will never get. */
  readonly findObstacle: () => string | undefined;
}

/** Nearly every build is over by then. */
const slowAfterMs = 500;

/**
 * Runs a build in esbuild's one service of this process. Input that kills or blocks the service (deep nesting overflows
 * its stack) ends as `overwhelmed`; the service starts anew, and other builds that died with it, or that were short of time
 * beside others, are run again by themselves.
 */
export async function runBundle(options: BuildOptions & { write: false }, bounds: BundleBounds): Promise<BundleOutcome> {
  const others = startedBuilds;
  runningBuilds += 1;
  startedBuilds += 1;
  const wasCrowded = runningBuilds > 1;
  const outcome = await attempt(options, bounds).finally(() => {
    runningBuilds -= 1;
  });
  if (outcome.kind !== 'overwhelmed') return outcome;
  // Time that others took does not count: who had the service to himself had his time.
  if (outcome.reason === 'time' && !wasCrowded && startedBuilds === others + 1) return outcome;
  const turn = retryTurn.then(() => attempt(options, bounds));
  retryTurn = turn.then(
    () => undefined,
    () => undefined,
  );
  return turn;
}

let runningBuilds = 0;
let startedBuilds = 0;

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

async function attempt(options: BuildOptions & { write: false }, bounds: BundleBounds): Promise<BundleOutcome> {
  if (stopping !== undefined) await stopping;
  const wall = Promise.withResolvers<Extract<BundleOutcome, { kind: 'overwhelmed' | 'stuck' }>>();
  const timer = setTimeout(() => wall.resolve({ kind: 'overwhelmed', reason: 'time' }), bounds.wallMs);
  const slow = setTimeout(() => {
    const obstacle = bounds.findObstacle();
    if (obstacle !== undefined) wall.resolve({ kind: 'stuck', obstacle });
  }, slowAfterMs);
  try {
    const result = await Promise.race([startBuild(options), wall.promise]);
    if (!('kind' in result)) return { kind: 'built', result };
    await stopBundler();
    return result;
  } catch (error) {
    if (isBuildFailure(error)) return { kind: 'failed', failure: error };
    if (!(error instanceof Error) || !/service (was stopped|is no longer running)|EPIPE/.test(error.message)) throw error;
    await stopBundler();
    return { kind: 'overwhelmed', reason: 'crash' };
  } finally {
    clearTimeout(timer);
    clearTimeout(slow);
  }
}

/**
 * What the service is told of its garbage, unless the environment says otherwise. A build of a plugin leaves little and makes much:
 * with the usual goal of Go a third of its time goes into collecting.
 */
const collecting: Readonly<Record<string, string>> = { GOGC: '400', GOMEMLIMIT: '1GiB' };

/** The service is started with the first build, and inherits the environment of that moment. */
function startBuild(options: BuildOptions & { write: false }): Promise<BuildResult<{ write: false }>> {
  const added = Object.keys(collecting).filter((name) => process.env[name] === undefined);
  for (const name of added) process.env[name] = collecting[name];
  try {
    return build(options);
  } finally {
    for (const name of added) delete process.env[name];
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors) && 'warnings' in error;
}
