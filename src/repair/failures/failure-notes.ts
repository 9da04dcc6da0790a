import { BoundedMap } from '../../collections/bounded-map.ts';
import type { Failure } from './failure.ts';
import { minFailures } from './watch-calls.ts';

/** What is told of plugins whose failures start no repair, and the calls that a person may have repaired later; bounded. */
export type FailureNotes = ReturnType<typeof createFailureNotes>;

const maxNotes = 1000;

/** Creates the notes. */
export function createFailureNotes() {
  const refusalByPath = new BoundedMap<string, string>(maxNotes);
  const callByPath = new BoundedMap<string, { readonly failure: Failure; readonly contentHash: string }>(maxNotes);
  return {
    note: (path: string, refusal: string) => void refusalByPath.set(path, refusal),
    refusalOf: (path: string) => refusalByPath.get(path),
    /** The failure was taken up, or the file saved. */
    forget: (path: string) => void refusalByPath.delete(path),
    /** Keeps what only a call shows. */
    remember(failure: Failure, contentHash: string): void {
      if (failure.executionId !== undefined) callByPath.set(failure.path, { failure, contentHash });
    },
    /** The failed call of this content. */
    failedCallOf(path: string, contentHash: string | undefined): Failure | undefined {
      const failed = callByPath.get(path);
      return failed?.contentHash === contentHash ? failed?.failure : undefined;
    },
  };
}

/** What is told of a failure that came too seldom to be repaired by itself. */
export function describeSeldom(name: string, { executionId }: Failure, seen: number): string {
  const count = seen === 1 ? 'once' : `${seen} times`;
  return `The plugin itself threw in the call ${executionId}, ${count} so far: a repair starts when ${minFailures} calls, and half of those of the tool, end so; now: hotcell repair start ${name}.`;
}
