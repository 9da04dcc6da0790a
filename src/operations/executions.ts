import { executionContracts } from './contracts/executions.ts';
import { implement, type Operation } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** What can be done with the records of calls. */
export function createExecutionOperations({ executions, caller: toolCaller }: OperationParts): Operation[] {
  return [
    implement(executionContracts.list, (input, { caller }) => executions.list(input, caller)),
    implement(executionContracts.get, ({ id }, { caller }) => executions.get(id, caller)),
    implement(executionContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: toolCaller.cancel(id, caller) })),
  ];
}
