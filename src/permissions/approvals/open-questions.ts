import type { Approval } from './approval-types.ts';

/** The open questions in memory, oldest first: what every call asks about must not cost a query. */
export interface OpenQuestions {
  add(approval: Approval): void;
  delete(id: string): void;
  get(id: string): Approval | undefined;
  list(): Approval[];
  count(matches: (approval: Approval) => boolean): number;
  ofExecution(executionId: string): Approval[];
  /** Executions that at least one question belongs to. */
  executions(): ReadonlySet<string>;
}

/** Creates the list with what is open already. */
export function createOpenQuestions(approvals: readonly Approval[]): OpenQuestions {
  const byId = new Map<string, Approval>();
  const idsByExecution = new Map<string, Set<string>>();

  function add(approval: Approval): void {
    byId.set(approval.id, approval);
    const { executionId } = approval;
    if (executionId === undefined) return;
    const ids = idsByExecution.get(executionId) ?? new Set();
    idsByExecution.set(executionId, ids.add(approval.id));
  }

  for (const approval of approvals) add(approval);

  return {
    add,
    delete(id) {
      const executionId = byId.get(id)?.executionId;
      byId.delete(id);
      if (executionId === undefined) return;
      const ids = idsByExecution.get(executionId);
      ids?.delete(id);
      if (ids?.size === 0) idsByExecution.delete(executionId);
    },
    get: (id) => byId.get(id),
    list: () => [...byId.values()],
    count(matches) {
      let total = 0;
      for (const approval of byId.values()) if (matches(approval)) total += 1;
      return total;
    },
    ofExecution: (executionId) => [...(idsByExecution.get(executionId) ?? [])].flatMap((id) => byId.get(id) ?? []),
    executions: () => new Set(idsByExecution.keys()),
  };
}
