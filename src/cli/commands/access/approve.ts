import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../../errors/near-names.ts';
import { type ApprovalView, approvalContracts } from '../../../operations/contracts/access/approvals.ts';
import { parseArguments } from '../../calling/call-arguments.ts';
import { askAnswer } from '../../questions/ask.ts';
import { askForm, hasForm } from '../../questions/ask-form.ts';
import { renderApproval, renderApprovals } from '../../render/approval.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, type CommonFlags } from '../command.ts';
import { readScopeFlags, type ScopeFlags } from './scope-flags.ts';

interface ApproveFlags extends CommonFlags, ScopeFlags {
  readonly deny?: boolean;
  readonly yes?: boolean;
  readonly all?: boolean;
  readonly content?: string;
}

const help = `
Without an id or a name it lists what waits. At a terminal it shows all that is needed to judge, and asks: yes, no, or later,
which leaves the question open; elsewhere nothing is approved without --yes. A question of kind ask wants a form to be filled
in: a terminal asks for one field after the other, elsewhere --content says it all. Permissions are granted always, or as --once,
--session and --until say; what was granted is taken back with: hotcell revoke NAME.
`;

/** Adds `hotcell approve`. */
export function registerApprove(program: Command, session: CliSession): void {
  const approve = addClientCommand(program, session, {
    name: 'approve',
    arguments: { '[id|name]': 'the question, or the plugin that asks' },
    options: {
      '--deny': 'say no',
      '--yes': 'approve without asking',
      '--content <json>': 'what a question of kind ask is answered with; approves it',
      '--once': 'grant permissions for one call',
      '--session <id>': 'grant permissions for one session',
      '--caller <id>': 'whose session it is; your own by default',
      '--until <date>': 'grant permissions until a date such as 2027-01-31',
      '--all': 'list also the questions that are not open any more',
    },
    json: 'as JSON; shows a question without answering it, unless --yes or --deny says so',
    run: ({ 'id|name': id, ...flags }, client) =>
      id === undefined ? listQuestions(session, client, flags) : answerAll(session, client, { id, flags }),
  });
  approve.addHelpText('after', help);
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

/** The question of an id, or all that are open of a plugin, what it asks for itself first. */
async function answerAll(session: CliSession, client: Client, { id, flags }: { id: string; flags: ApproveFlags }): Promise<void> {
  const ids = id.startsWith('apr_') ? [id] : await findQuestions(client, id);
  for (const each of ids) await answerQuestion(session, client, { id: each, flags });
}

async function findQuestions(client: Client, name: string): Promise<readonly string[]> {
  const { items } = await client.invoke(approvalContracts.list, { about: name, limit: 1000 });
  const asked = items.toSorted((one, other) => Number(other.kind === 'grant') - Number(one.kind === 'grant'));
  if (asked.length > 0) return asked.map(({ id }) => id);
  const all = await client.invoke(approvalContracts.list, { limit: 1000 });
  const near = suggestNearNames(
    name,
    all.items.flatMap(({ plugin, tool }) => [plugin, tool ?? []].flat()),
  );
  throw new HotcellError('approval-unknown', `Nothing of ${JSON.stringify(name.slice(0, 64))} waits for an answer.${near}`, {
    fix: `List what does: hotcell approve. What it has and lacks: hotcell why ${name.slice(0, 64)}.`,
  });
}

async function answerQuestion(
  session: CliSession,
  client: Client,
  { id, flags }: { readonly id: string; readonly flags: ApproveFlags },
): Promise<void> {
  const { style, io } = session;
  if (flags.deny && (flags.yes || flags.content !== undefined)) {
    throw new HotcellError('usage-wrong', `Expected ${flags.yes ? '--yes' : '--content'} or --deny, not both.`);
  }
  const scope = readScopeFlags(flags);
  const approval = await client.invoke(approvalContracts.get, { id });
  const given = flags.content === undefined ? undefined : parseArguments(flags.content, 'the content');
  const isDecided = flags.yes === true || flags.deny === true || given !== undefined;
  if (flags.json && !isDecided) return session.printJson(approval);
  if (!flags.json) session.print(renderApproval(approval, style));
  if (approval.status !== 'open') throw describeEnded(approval);
  if (!isDecided && io.ask === undefined) {
    if (approval.kind === 'ask') {
      throw new HotcellError('usage-wrong', 'Nobody can be asked here, because this is no terminal.', {
        fix: `Say it in one: hotcell approve ${id} --content '{…}'. Or decline: hotcell approve ${id} --deny.`,
      });
    }
    throw new HotcellError('usage-wrong', 'Nobody can be asked here, because this is no terminal.', {
      fix:
        approval.caller === 'local'
          ? `The operator's own call asks this, so only a person at a terminal lets it: hotcell approve ${id}. Or deny it: hotcell approve ${id} --deny.`
          : `Look at the question above, then: hotcell approve ${id} --yes, or hotcell approve ${id} --deny.`,
    });
  }
  const said = isDecided
    ? flags.deny === true
      ? 'no'
      : 'yes'
    : await askAnswer(io, hasForm(approval) ? 'Fill it in?' : 'Approve?');
  const isApproved = said === 'yes';
  const isAsked = isApproved && !isDecided && hasForm(approval);
  const content = isAsked ? await askForm(io, approval) : given;
  if (said === undefined || said === 'later' || (isAsked && content === undefined)) {
    return session.note('Not answered: the question stays open.\n');
  }
  const answered = await client.invoke(approvalContracts.answer, {
    id,
    answer: isApproved ? 'approve' : 'deny',
    ...(isApproved ? scope : {}),
    ...(isApproved && content !== undefined ? { content } : {}),
    ...(approval.shownHash === undefined ? {} : { shownHash: approval.shownHash }),
    // Only a terminal vouches for a person.
    person: io.ask !== undefined,
  });
  if (flags.json) return session.printJson(answered);
  session.print(answered.status === 'approved' ? `${style.green('✓')} Approved.` : `${style.red('✗')} Denied.`);
  session.print(`${describeReturn(answered)}\n`);
}

/** How to change one's mind about permissions. */
function describeReturn({ kind, status, plugin }: ApprovalView): string {
  if (kind !== 'grant') return '';
  return status === 'approved'
    ? ` Take it back: hotcell revoke ${plugin}`
    : ` Allow it later all the same: hotcell grant ${plugin} --requested`;
}

function describeEnded({ id, status, answeredBy }: ApprovalView): HotcellError {
  const by = answeredBy === undefined ? '' : ` by ${answeredBy}`;
  return new HotcellError('conflict', `The question ${id} is not open any more: it was ${status}${by}.`, { fix });
}
