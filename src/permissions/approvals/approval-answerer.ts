import type { Answerer, ApprovalRequest } from './approval-types.ts';

/** Whether somebody may answer a question. `unseen`: it is none of their business, so they hear that there is no such question. */
export type AnswererDecision =
  | { readonly may: true }
  | { readonly may: false; readonly unseen: true }
  | { readonly may: false; readonly unseen: false; readonly reason: string };

/** The caller id of the operator's own token. */
export const operatorId = 'local';

/**
 * Decides who may answer. Whoever caused a question does not answer it, nor does a key that it made or that made it, so that no program approves its own doings; the
 * exceptions are questions of kind `ask`, which are for whoever calls, and those made by the operator: a person at the operator's own door, and a key that was made to answer for the
 * person behind it. Grants are for admins alone.
 */
export function decideAnswerer(question: Pick<ApprovalRequest, 'kind' | 'caller'>, by: Answerer): AnswererDecision {
  const isOwn = question.caller !== undefined && question.caller === by.id;
  // A question of kind `ask` is for whoever calls, and gives nobody a right.
  if (question.kind === 'ask' && (isOwn || by.role === 'admin')) return { may: true };
  if (by.role === 'admin' && !isOwn && question.caller !== undefined && by.isOfLineOf?.(question.caller) === true) {
    return refuse('A key of the same line caused it: one made the other, or one key made both.');
  }
  if (by.role === 'admin' && !isOwn) return { may: true };
  if (!isOwn) return { may: false, unseen: true };
  if (by.role === 'admin' && by.id === operatorId && by.isPerson) return { may: true };
  if (question.kind === 'grant') return refuse('Only an admin that did not cause it can answer a request for permissions.');
  if (by.mayAnswer) return { may: true };
  return refuse(
    by.id === operatorId
      ? 'The operator’s own token caused this call, so a person must answer it at a terminal.'
      : 'The key that caused a call cannot answer for it, unless it was made with --may-answer.',
  );
}

function refuse(reason: string): AnswererDecision {
  return { may: false, unseen: false, reason };
}
