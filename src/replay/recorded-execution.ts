import type { Recording } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { Execution, ExecutionReader } from '../calls/call-types.ts';
import { HotcellError } from '../errors/hotcell-error.ts';

/** A call that is over, with what crossed its border. */
export interface RecordedExecution {
  readonly execution: Execution;
  readonly recording: Recording;
}

/** Creates the reader of what can be replayed. It throws `execution-unknown` for what is not the caller's, and `not-replayable`. */
export function createRecordedReader(parts: {
  readonly executions: ExecutionReader;
  readonly readRecording: (id: string) => Promise<Recording | undefined>;
  readonly keepPerTool: number;
}): (id: string, caller: Caller) => Promise<RecordedExecution> {
  return async (id, caller) => {
    const execution = parts.executions.get(id, caller);
    const { tool, status, cut, startedAtMs } = execution;
    if (status === 'pending' || status === 'running') {
      throw notReplayable(`The execution "${id}" has not ended.`, `Wait for its end: hotcell executions show ${id} --wait`);
    }
    if (startedAtMs === undefined)
      throw notReplayable(`The execution "${id}" ended before it began, so there is nothing to run.`);
    if (cut?.arguments !== undefined) {
      throw notReplayable(
        `The record of "${id}" has the beginning of its arguments alone: they had ${cut.arguments} bytes.`,
        'Keep larger values with executions.maxValueBytes in the config; calls after that can be replayed.',
      );
    }
    const recording = await parts.readRecording(id);
    if (recording === undefined) throw notReplayable(describeMissing(id, tool, status, parts.keepPerTool), keepMore);
    return { execution, recording };
  };
}

const keepMore = 'Keep more with executions.keepRecordingsPerTool in the config; calls after that can be replayed.';

function describeMissing(id: string, tool: string, status: string, keepPerTool: number): string {
  const kept = `of the successful calls of a tool the newest ${keepPerTool} are kept`;
  const why =
    status === 'success' ? `: ${kept}, and this is an older one of "${tool}"` : `, or it went with older records (${kept})`;
  return `There is no recording of the execution "${id}"${why}.`;
}

/** The refusal of what cannot be replayed; it says why. */
export function notReplayable(message: string, fix?: string): HotcellError {
  return new HotcellError('not-replayable', message, { fix });
}
