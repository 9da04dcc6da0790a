import { executionContracts } from './contracts/executions.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** What can be done with the records of calls. */
export function createExecutionOperations({ executions, caller: toolCaller }: OperationParts): Operation[] {
  return [
    implement(executionContracts.list, (input, { caller }) => executions.list(input, caller)),
    implement(executionContracts.get, async ({ id }, { caller }) => {
      const execution = executions.get(id, caller);
      const logs = await toolCaller.readLogs(id);
      return logs.length === 0 ? execution : { ...execution, logs };
    }),
    implement(executionContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: toolCaller.cancel(id, caller) })),
  ];
}
