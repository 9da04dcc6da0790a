import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ApprovalView } from '../operations/contracts/approvals.ts';

/** Tells a model whom to ask where its client cannot: the call waits, and the same call again finds it. */
export function sayElsewhere(questions: readonly ApprovalView[]): CallToolResult {
  const lines = questions.map(({ id, question }) => `${question} A person answers it with: hotcell approve ${id}`);
  const text = [
    'This call waits for a person, whom this client cannot ask.',
    ...lines,
    'Tell the user. Once it is answered, call the tool again with the same arguments: that gives the result of this very call.',
  ].join('\n');
  return { isError: true, content: [{ type: 'text', text }] };
}
