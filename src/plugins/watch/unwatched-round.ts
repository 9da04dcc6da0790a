import { readSignature } from './signature.ts';

/** Looks after files that no watch covers, such as those of installed packages: a few at a time, for ever. */
export interface UnwatchedRound {
  close(): void;
}

/** How many files a step looks at: about a millisecond's worth. */
const filesPerStep = 100;

/** Starts the round. `listPaths` names the files; `onChange` is told of each that is not as it was the time before. */
export function startUnwatchedRound(parts: {
  readonly intervalMs: number;
  readonly listPaths: () => Iterable<string>;
  readonly onChange: (path: string) => void;
}): UnwatchedRound {
  let signatures = new Map<string, string | undefined>();
  let previous = new Map<string, string | undefined>();
  let rest: Iterator<string> = [][Symbol.iterator]();

  function step(): void {
    for (let looked = 0; looked < filesPerStep; looked += 1) {
      const next = rest.next();
      if (next.done) {
        startOver();
        return;
      }
      const signature = readSignature(next.value);
      if (previous.has(next.value) && previous.get(next.value) !== signature) parts.onChange(next.value);
      signatures.set(next.value, signature);
    }
  }

  // Only what is still in use is carried into the next round.
  function startOver(): void {
    previous = signatures;
    signatures = new Map();
    rest = [...parts.listPaths()][Symbol.iterator]();
  }

  startOver();
  const timer = setInterval(step, parts.intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
