import type { Static } from 'typebox';
import type { Caller } from '../../../callers/caller.ts';
import type { Readable } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { decideAnswerer } from '../../../permissions/approvals/approval-answerer.ts';
import { hashShown, shortenDetails } from '../../../permissions/approvals/approval-rows.ts';
import type { Answerer, Approval } from '../../../permissions/approvals/approval-types.ts';
import { type ApprovalView, approvalContracts } from '../../contracts/access/approvals.ts';
import { implement, type Operation } from '../../operation.ts';
import type { OperationParts } from '../../operation-parts.ts';
import { readGrantScope, requireLastingScope } from './grant-scope.ts';

const defaultPageSize = 100;

/** What can be done with questions to people. */
export function createApprovalOperations({ approvals, grantQuestions, units, hooks, mcp, keys }: OperationParts): Operation[] {
  /** Who is told of an approval besides the one who waits for it. */
  const askers: Partial<Record<Approval['kind'], Pick<typeof hooks | typeof mcp, 'requireAsked' | 'approveAsked'>>> = {
    hook: hooks,
    mcp,
  };

  /** Somebody else's question does not exist for a caller. */
  function find(id: string, caller: Caller): Approval {
    const approval = approvals.get(id);
    if (approval !== undefined && (caller.role === 'admin' || approval.caller === caller.id)) return approval;
    throw new HotcellError('approval-unknown', `There is no question ${JSON.stringify(id.slice(0, 64))}.`);
  }

  function toAnswerer({ id, role, mayAnswer = false }: Caller, isPerson: boolean): Answerer {
    return { id, role, mayAnswer, isPerson, isOfLineOf: (other) => keys.areOfOneLine(id, other) };
  }

  function viewApproval(approval: Approval, caller: Caller): Readable<ApprovalView> & { readonly shownHash: string } {
    const { askKey: _askKey, unitPath: _unitPath, ...shown } = approval;
    return {
      ...shown,
      saidBy: approval.kind === 'confirm' || approval.kind === 'ask' ? 'plugin' : 'hotcell',
      shownHash: hashShown(approval),
      mayAnswer: describeRight(approval, caller),
    };
  }

  /** The same without what is long: a list, and an answer that was given, need no more. */
  function viewShort(approval: Approval, caller: Caller): Readable<ApprovalView> {
    const { cut, details } = shortenDetails(approval.details);
    const { shownHash, content: _content, ...view } = viewApproval(approval, caller);
    return cut === undefined ? { ...view, shownHash } : { ...view, details, cut };
  }

  function describeRight(approval: Approval, caller: Caller): ApprovalView['mayAnswer'] {
    if (approval.status !== 'open') return 'no';
    if (decideAnswerer(approval, toAnswerer(caller, false)).may) return 'yes';
    return decideAnswerer(approval, toAnswerer(caller, true)).may ? 'person' : 'no';
  }

  return [
    implement(approvalContracts.list, ({ status = 'open', executionId, about, limit = defaultPageSize }, { caller }) => {
      const query = {
        ...(caller.role === 'admin' ? {} : { caller: caller.id }),
        ...(status === 'all' ? {} : { status }),
        ...(executionId === undefined ? {} : { executionId }),
      };
      if (about === undefined) {
        const items = approvals.list({ ...query, limit }).map((approval) => viewShort(approval, caller));
        return { items, total: approvals.count(query) };
      }
      const found = approvals.list({ ...query, limit: Number.MAX_SAFE_INTEGER }).filter((approval) => isAbout(approval, about));
      return { items: found.slice(0, limit).map((approval) => viewShort(approval, caller)), total: found.length };
    }),
    implement(approvalContracts.get, ({ id }, { caller }) => viewApproval(find(id, caller), caller)),
    implement(approvalContracts.answer, async (input, { caller }) => {
      const approval = find(input.id, caller);
      const by = toAnswerer(caller, input.person === true);
      const isApproved = input.answer === 'approve';
      const given = { shown: input.shownHash, content: input.content };
      if (approval.kind !== 'grant' || !isApproved) {
        refuseScope(input, approval);
        const asker = isApproved ? askers[approval.kind] : undefined;
        if (approval.status === 'open') asker?.requireAsked(approval);
        const answered = approvals.answer(input.id, isApproved ? 'approved' : 'denied', by, given);
        await asker?.approveAsked(answered, caller.id);
        return viewShort(answered, caller);
      }
      const scope = readGrantScope(input, caller.id);
      // Looked at before the answer is written: what is not asked any more is not answered either.
      if (approval.status === 'open' && decideAnswerer(approval, by).may) {
        requireLastingScope(grantQuestions.require(approval).permissions, scope);
      }
      const answered = approvals.answer(input.id, 'approved', by, given);
      grantQuestions.grant(answered, scope, caller.id);
      await units.refreshGrants();
      return viewShort(answered, caller);
    }),
  ];
}

function isAbout({ plugin, tool, details }: Approval, name: string): boolean {
  return [plugin, tool, details.path, details.server].includes(name);
}

function refuseScope(
  { scope, session, untilMs, caller }: Static<typeof approvalContracts.answer.input>,
  { kind }: Approval,
): void {
  if ([scope, session, untilMs, caller].every((each) => each === undefined)) return;
  throw new HotcellError(
    'body-invalid',
    kind === 'grant'
      ? 'A denial has no scope: leave out scope, session, caller and untilMs.'
      : `scope, session, caller and untilMs go with the approval of permissions alone; this question is of kind ${kind} and is answered for this one time.`,
  );
}
