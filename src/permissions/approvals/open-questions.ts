import type { Approval } from './approval-types.ts';

/** Keeps the open questions in memory, oldest first: what every call asks about must not cost a query. */
export function createOpenQuestions(approvals: readonly Approval[]) {
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
    delete(id: string): void {
      const executionId = byId.get(id)?.executionId;
      byId.delete(id);
      if (executionId === undefined) return;
      const ids = idsByExecution.get(executionId);
      ids?.delete(id);
      if (ids?.size === 0) idsByExecution.delete(executionId);
    },
    get: (id: string): Approval | undefined => byId.get(id),
    list: (): Approval[] => [...byId.values()],
    count(matches: (approval: Approval) => boolean): number {
      let total = 0;
      for (const approval of byId.values()) if (matches(approval)) total += 1;
      return total;
    },
    ofExecution: (executionId: string): Approval[] =>
      [...(idsByExecution.get(executionId) ?? [])].flatMap((id) => byId.get(id) ?? []),
    /** Executions that at least one question belongs to. */
    executions: (): ReadonlySet<string> => new Set(idsByExecution.keys()),
  };
}
