import { executionContracts } from '../contracts/executions.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { tellMeanwhile } from './events.ts';

const maxFollowMs = 3_600_000;

/** What can be done with the records of calls. */
export function createExecutionOperations({ executions, events, caller: toolCaller, replays }: OperationParts): Operation[] {
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
      const { caller, signal } = context;
      executions.get(id, caller);
      await tellMeanwhile({ events }, id, context, () => toolCaller.ended(id, waitMs, signal));
      return executions.get(id, caller);
    }),
    implement(executionContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: toolCaller.cancel(id, caller) })),
    implement(executionContracts.replay, ({ id, ...on }, { caller, signal }) => replays.replay(id, on, { caller, signal })),
  ];
}
