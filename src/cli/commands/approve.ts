import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { type ApprovalView, approvalContracts } from '../../operations/contracts/approvals.ts';
import { askYesNo } from '../ask.ts';
import { renderApproval, renderApprovals } from '../render/approval.ts';
import type { CliSession } from '../session.ts';
import { type ListFlags, withDaemon } from './command.ts';
import { readScope, type ScopeFlags } from './scope-flags.ts';

interface ApproveFlags extends ListFlags, ScopeFlags {
  readonly deny?: boolean;
  readonly yes?: boolean;
  readonly all?: boolean;
}

const help = `
Without an id it lists what waits. At a terminal it shows all that is needed to judge, and asks; elsewhere nothing is
approved without --yes. Permissions are granted always, or as --once, --session and --until say.
`;

/** Adds `hotcell approve`. */
export function registerApprove(program: Command, session: CliSession): void {
  program
    .command('approve')
    .argument('[id]', 'the question')
    .option('--deny', 'say no')
    .option('--yes', 'approve without asking')
    .option('--once', 'grant permissions for one call')
    .option('--session <id>', 'grant permissions for one session')
    .option('--caller <id>', 'whose session it is; your own by default')
    .option('--until <date>', 'grant permissions until a date such as 2027-01-31')
    .option('--all', 'list also the questions that are not open any more')
    .option('--json', 'as JSON; shows a question without answering it, unless --yes or --deny says so')
    .addHelpText('after', help)
    .action((id: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ApproveFlags>();
      return withDaemon(session, flags, (client) =>
        id === undefined ? listQuestions(session, client, flags) : answerQuestion(session, client, { id, flags }),
      );
    });
}

async function listQuestions(session: CliSession, client: Client, flags: ApproveFlags): Promise<void> {
  if (flags.deny || flags.yes) throw new HotcellError('usage-wrong', 'Expected the id of the question to answer.', { fix });
  const list = await client.invoke(approvalContracts.list, flags.all ? { status: 'all' } : {});
  if (flags.json) return session.printJson(list);
  if (list.items.length === 0) return session.print('Nothing waits for an answer.\n');
  const { style, io } = session;
  session.print(renderApprovals(list.items, { style, width: io.columns, nowMs: Date.now() }));
  if (list.total > list.items.length) session.print(`… and ${list.total - list.items.length} more.\n`);
  session.print('\nLook at one and answer it: hotcell approve ID\n');
}

const fix = 'List the open ones: hotcell approve.';

async function answerQuestion(
  session: CliSession,
  client: Client,
  { id, flags }: { readonly id: string; readonly flags: ApproveFlags },
): Promise<void> {
  const { style, io } = session;
  if (flags.deny && flags.yes) throw new HotcellError('usage-wrong', 'Expected --yes or --deny, not both.');
  const scope = readScope(flags);
  const approval = await client.invoke(approvalContracts.get, { id });
  const isDecided = flags.yes === true || flags.deny === true;
  if (flags.json && !isDecided) return session.printJson(approval);
  if (!flags.json) session.print(renderApproval(approval, style));
  if (approval.status !== 'open') throw describeEnded(approval);
  if (!isDecided && io.ask === undefined) {
    throw new HotcellError('usage-wrong', 'Nobody can be asked here, because this is no terminal.', {
      fix: `Look at the question above, then: hotcell approve ${id} --yes, or hotcell approve ${id} --deny.`,
    });
  }
  const isApproved = isDecided ? flags.yes === true : await askYesNo(io, 'Approve?');
  if (isApproved === undefined) return session.note('Not answered: the question stays open.\n');
  const answered = await client.invoke(approvalContracts.answer, {
    id,
    answer: isApproved ? 'approve' : 'deny',
    ...(isApproved ? scope : {}),
    ...(approval.shownHash === undefined ? {} : { shownHash: approval.shownHash }),
    // Only a terminal vouches for a person.
    person: io.ask !== undefined,
  });
  if (flags.json) return session.printJson(answered);
  session.print(answered.status === 'approved' ? `${style.green('✓')} Approved.\n` : `${style.red('✗')} Denied.\n`);
}

function describeEnded({ id, status, answeredBy }: ApprovalView): HotcellError {
  const by = answeredBy === undefined ? '' : ` by ${answeredBy}`;
  return new HotcellError('conflict', `The question ${id} is not open any more: it was ${status}${by}.`, { fix });
}
