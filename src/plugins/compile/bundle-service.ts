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
  /** Of its share: beside n - 1 others a build has n times as long, and while the machine sleeps nothing counts. */
  readonly wallMs: number;
  /** Asked once when a build takes long: what it waits for and will never get. */
  readonly findObstacle: () => string | undefined;
}

/** Nearly every build is over by then. */
const slowAfterMs = 500;
const tickMs = 250;
const maxRetries = 3;

/**
 * Runs a build in esbuild's one service of this process. Input that kills or blocks the service (deep nesting overflows
 * its stack) ends as `overwhelmed`; the service starts anew, and other builds that died with it, or that were short of time
 * beside others, are run again by themselves.
 */
export async function runBundle(options: BuildOptions & { write: false }, bounds: BundleBounds): Promise<BundleOutcome> {
  const { outcome, wasAlone } = await attemptBeside(options, bounds);
  // Who had the service to himself had his time, and nobody else ended it.
  if (outcome.kind !== 'overwhelmed' || (outcome.reason === 'time' && wasAlone)) return outcome;
  const turn = retryTurn.then(() => retry(options, bounds));
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

/** Builds that begin meanwhile go on beside it: what ends the service under a retry may be one of these. */
async function retry(options: BuildOptions & { write: false }, bounds: BundleBounds): Promise<BundleOutcome> {
  for (let left = maxRetries; ; left -= 1) {
    const { outcome, wasAlone } = await attemptBeside(options, bounds);
    const isOthers = outcome.kind === 'overwhelmed' && outcome.reason === 'crash' && !wasAlone;
    if (!isOthers || left === 1) return outcome;
  }
}

/** One attempt, and whether no other one ran at any time of it. */
async function attemptBeside(options: BuildOptions & { write: false }, bounds: BundleBounds) {
  const isFirst = runningBuilds === 0;
  runningBuilds += 1;
  startedBuilds += 1;
  const started = startedBuilds;
  const outcome = await attempt(options, bounds).finally(() => {
    runningBuilds -= 1;
  });
  return { outcome, wasAlone: isFirst && startedBuilds === started };
}

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
  let leftMs = bounds.wallMs;
  const clock = setInterval(() => {
    leftMs -= tickMs / runningBuilds;
    if (leftMs <= 0) wall.resolve({ kind: 'overwhelmed', reason: 'time' });
  }, tickMs);
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
    clearInterval(clock);
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
