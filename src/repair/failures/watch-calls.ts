import type { Recording } from '../../border/border.ts';
import type { Execution } from '../../calls/call-types.ts';
import { BoundedMap } from '../../collections/bounded-map.ts';
import type { EventLog } from '../../events/event.ts';
import { classifyExecution } from './classify-failure.ts';
import type { Failure, NobodysFault } from './failure.ts';

/** A call that ended without success. */
export interface FailedCall {
  readonly execution: Execution;
  readonly recording: Recording | undefined;
}

/** From so many failures of a tool on, and this part of its calls, an error that a plugin throws itself is worth a repair. */
export const minFailures = 3;
const minPart = 0.5;
const windowCalls = 20;
const maxTools = 500;
/** Failures that are looked into at the same time: of a storm the first ones tell as much as all. */
const maxReads = 4;

/** Tells of calls that failed, and whether that is worth a repair. A call that goes well costs a look into a map, and nothing where its tool never failed. */
export function watchCalls(parts: {
  readonly events: Pick<EventLog, 'subscribe'>;
  readonly readFailure: (executionId: string) => Promise<FailedCall>;
  /** The plugin whose generation serves; undefined for another one. */
  readonly pathOf: (generationId: string) => string | undefined;
  /** `seen`: how often the tool failed so lately, when that is too seldom to repair it. */
  readonly onFailure: (failure: Failure, seen: number | undefined) => void;
  readonly onNobodysFault: (path: string, executionId: string, fault: NobodysFault) => void;
  readonly onFault: (error: unknown) => void;
}): () => void {
  /** The last calls of each tool that failed lately: the key of the failure, undefined where one went well. */
  const windowByTool = new BoundedMap<string, (string | undefined)[]>(maxTools);
  let reads = 0;

  function add(tool: string, failureKey: string | undefined): readonly (string | undefined)[] {
    const seen = [...(windowByTool.get(tool) ?? []), failureKey].slice(-windowCalls);
    windowByTool.set(tool, seen);
    return seen;
  }

  async function look(executionId: string): Promise<void> {
    const { execution, recording } = await parts.readFailure(executionId);
    const path = parts.pathOf(execution.generation);
    if (path === undefined) return;
    const judged = classifyExecution(path, execution, recording);
    if ('nobody' in judged) return parts.onNobodysFault(path, executionId, judged.nobody);
    const { failure } = judged;
    const window = add(execution.tool, failure.key);
    parts.onFailure(failure, isWorthRepair(failure, window) ? undefined : countFailed(failure, window));
  }

  return parts.events.subscribe({ types: ['execution-end'] }, ({ type, subject, data }) => {
    if (type !== 'execution-end') return;
    if (data.status === 'success') {
      if (windowByTool.has(data.tool)) add(data.tool, undefined);
    } else if (data.status !== 'cancelled' && reads < maxReads) {
      reads += 1;
      // The row is written behind the event.
      setImmediate(() => {
        look(subject)
          .catch(parts.onFault)
          .finally(() => {
            reads -= 1;
          });
      });
    }
  });
}

/** Mistakes of programs: one is enough. What a plugin throws on purpose has no such name. */
const programNames = /^(?:TypeError|ReferenceError)(?::|$)/;

/**
 * Whether a failure of a call is worth a repair now: a mistake of a program and an end by a limit from the first time on, an error
 * that the plugin throws itself when most calls of the tool end so. `window`: how its last calls ended.
 */
export function isWorthRepair(
  failure: Pick<Failure, 'class' | 'key' | 'message'>,
  window: readonly (string | undefined)[],
): boolean {
  if (failure.class !== 'runtime-error' || programNames.test(failure.message)) return true;
  const failed = countFailed(failure, window);
  return failed >= minFailures && failed >= window.length * minPart;
}

function countFailed({ key }: Pick<Failure, 'key'>, window: readonly (string | undefined)[]): number {
  return window.filter((failureKey) => failureKey === key).length;
}
