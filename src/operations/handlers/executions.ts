import { executionContracts } from '../contracts/executions.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

const maxFollowMs = 3_600_000;

/** What can be done with the records of calls. */
export function createExecutionOperations({ executions, events, caller: toolCaller }: OperationParts): Operation[] {
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
    implement(executionContracts.follow, async ({ id, waitMs = maxFollowMs }, context) => {
      executions.get(id, context.caller);
      const following: { onAccepted?: CallRequest['onAccepted'] } = {};
      const endStream = streamExecution(following, context, events);
      try {
        following.onAccepted?.(id);
        await toolCaller.ended(id, waitMs, context.signal);
      } finally {
        endStream?.();
      }
      return executions.get(id, context.caller);
    }),
    implement(executionContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: toolCaller.cancel(id, caller) })),
  ];
}
