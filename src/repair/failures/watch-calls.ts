import type { Recording } from '../../border/border.ts';
import type { Execution } from '../../calls/call-types.ts';
import type { EventLog } from '../../events/event.ts';
import { BoundedMap } from '../../queues/bounded-map.ts';
import { classifyExecution } from './classify-failure.ts';
import type { Failure, NobodysFault } from './failure.ts';
import { isWorthRepair, type SeenCall } from './failure-rate.ts';

/** A call that ended without success. */
export interface FailedCall {
  readonly execution: Execution;
  readonly recording: Recording | undefined;
}

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
  /** The last calls of each tool that failed lately. */
  const windowByTool = new BoundedMap<string, SeenCall[]>(maxTools);
  let reads = 0;

  function add(tool: string, call: SeenCall): readonly SeenCall[] {
    const seen = [...(windowByTool.get(tool) ?? []), call].slice(-windowCalls);
    windowByTool.set(tool, seen);
    return seen;
  }

  async function look(executionId: string): Promise<void> {
    const { execution, recording } = await parts.readFailure(executionId);
    const path = parts.pathOf(execution.generation);
    if (path === undefined) return;
    const judged = classifyExecution(path, execution, recording);
    if ('nobody' in judged) return parts.onNobodysFault(path, executionId, judged.nobody);
    const window = add(execution.tool, { tool: execution.tool, failureKey: judged.failure.key });
    const { key } = judged.failure;
    const seen = window.filter(({ failureKey }) => failureKey === key).length;
    parts.onFailure(judged.failure, isWorthRepair(judged.failure, window) ? undefined : seen);
  }

  return parts.events.subscribe({ types: ['execution-end'] }, ({ type, subject, data }) => {
    if (type !== 'execution-end') return;
    if (data.status === 'success') {
      if (windowByTool.has(data.tool)) add(data.tool, { tool: data.tool });
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
