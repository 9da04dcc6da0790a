import type { CallRequest } from '../../calls/call-types.ts';
import type { EventLog } from '../../events/event.ts';
import { executionContracts } from '../contracts/executions.ts';
import { implement, type Operation, type OperationContext } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { filterFor } from './events.ts';

/** What can be done with the records of calls. */
export function createExecutionOperations({ executions, caller: toolCaller }: OperationParts): Operation[] {
  return [
    implement(executionContracts.list, (input, { caller }) => executions.list(input, caller)),
    implement(executionContracts.get, async ({ id, waitMs = 0 }, context) => {
      const { caller } = context;
      const first = executions.get(id, caller);
      const isOpen = first.status === 'pending' || first.status === 'running';
      if (waitMs > 0 && isOpen) await toolCaller.ended(id, waitMs, context.signal);
      const execution = waitMs > 0 && isOpen ? executions.get(id, caller) : first;
      const logs = await toolCaller.readLogs(id);
      return logs.length === 0 ? execution : { ...execution, logs };
    }),
    implement(executionContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: toolCaller.cancel(id, caller) })),
  ];
}

/** Streams what happens in a call from its first moment on, to those who asked for it; returns the end of it. */
export function streamExecution(
  request: { onAccepted?: CallRequest['onAccepted'] },
  { stream, caller }: OperationContext,
  events: Pick<EventLog, 'subscribe'>,
): (() => void) | undefined {
  if (stream === undefined) return undefined;
  let end: (() => void) | undefined;
  request.onAccepted = (execution) => {
    stream.accepted(execution);
    end = events.subscribe({ ...filterFor(caller, undefined), execution }, (event) => stream.event(event));
  };
  return () => end?.();
}
