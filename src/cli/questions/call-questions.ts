import type { Client } from '../../client/client.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { approvalContracts } from '../../operations/contracts/access/approvals.ts';
import { executionContracts } from '../../operations/contracts/executions.ts';
import { quoteQuestion, renderApproval } from '../render/approval.ts';
import { renderError } from '../render/error.ts';
import type { CliSession } from '../session.ts';
import { askYesNo } from './ask.ts';
import { askForm, hasForm } from './ask-form.ts';

/** The questions of one call that a command waits for. */
export type CallQuestions = ReturnType<typeof createCallQuestions>;

/** Asks them one after the other at the terminal; without one, or without the right to answer, says how they are answered. */
export function createCallQuestions(session: CliSession, client: Client, over: AbortSignal) {
  const endings = new Map<string, AbortController>();
  let last: Promise<void> = Promise.resolve();

  async function ask(id: string, ended: AbortSignal): Promise<void> {
    const { io, style } = session;
    try {
      const approval = await client.invoke(approvalContracts.get, { id });
      if (approval.status !== 'open' || ended.aborted) return;
      if (approval.mayAnswer === 'no' || io.ask === undefined) {
        session.note(`${style.yellow('?')} ${quoteQuestion(approval)}\n`);
        if (client.isAlone !== true || approval.executionId === undefined) {
          session.note(`  The call waits for a person. Answer it with: hotcell approve ${id}\n`);
          return;
        }
        session.note('  Nobody can answer here: use a terminal, or start the daemon first with hotcell start.\n');
        await client.invoke(executionContracts.cancel, { id: approval.executionId });
        return;
      }
      session.note(renderApproval(approval, style));
      const isApproved = await askYesNo(io, hasForm(approval) ? 'Fill it in?' : 'Approve?', ended);
      const isAsked = isApproved === true && hasForm(approval);
      const content = isAsked ? await askForm(io, approval, ended) : undefined;
      if (isApproved === undefined || (isAsked && content === undefined)) return;
      const { shownHash } = approval;
      const answer = isApproved ? 'approve' : 'deny';
      const given = { ...(shownHash !== undefined && { shownHash }), ...(content !== undefined && { content }) };
      await client.invoke(approvalContracts.answer, { id, answer, person: true, ...given });
    } catch (error) {
      // Somebody else was faster.
      if (error instanceof HotcellError && error.code === 'conflict') return;
      session.note(renderError(error, style));
    }
  }

  return {
    /** The call waits for the answer to this question. */
    open(id: string): void {
      if (endings.has(id)) return;
      const ending = new AbortController();
      endings.set(id, ending);
      last = last.then(() => ask(id, AbortSignal.any([over, ending.signal])));
    },
    /** It is not open any more, whoever answered. */
    end: (id: string): void => endings.get(id)?.abort(),
    close(): void {
      for (const ending of endings.values()) ending.abort();
    },
  };
}
