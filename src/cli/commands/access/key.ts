import type { Command } from 'commander';
import type { CallerRules } from '../../../callers/caller.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { keyContracts } from '../../../operations/contracts/access/keys.ts';
import { formatTime } from '../../render/format.ts';
import type { CliSession } from '../../session.ts';
import { type ListFlags, withDaemon } from '../command.ts';
import { addListing, addOperation } from '../operation-command.ts';
import { describeRules, type RuleFlags, readNewRules, readRuleChanges } from './key-rules.ts';

interface KeyFlags extends ListFlags, RuleFlags {
  readonly role?: string;
  readonly name?: string;
}

const keyArgument = 'its id, as hotcell key list shows it';

/** Adds `hotcell key …`. */
export function registerKey(program: Command, session: CliSession): void {
  const key = program.command('key');
  const { style } = session;

  addRules(key.command('create').description('make a key; it is shown this once'))
    .option('--role <role>', 'caller (may call tools) or admin (may do everything)', 'caller')
    .option('--name <name>', 'what the key is for')
    .option('--json', 'as JSON')
    .action((_options: unknown, command: Command) => {
      const { role, name, json, ...flags } = command.optsWithGlobals<KeyFlags>();
      if (role !== 'admin' && role !== 'caller') {
        throw new HotcellError('usage-wrong', `Expected --role to be admin or caller, got "${role}".`);
      }
      const rulesWanted = readNewRules(flags, Date.now());
      return withDaemon(session, flags, async (client) => {
        const created = await client.invoke(keyContracts.create, {
          role,
          ...(name === undefined ? {} : { name }),
          ...rulesWanted,
        });
        if (json) return session.printJson(created);
        const rules = describeRules(created.rules);
        session.note(
          style.dim(
            `${created.id}, role ${created.role}${rules && `, ${rules}`}. This is the only time that the key is shown.\n`,
          ),
        );
        session.print(`${created.key}\n`);
      });
    });

  addListing(key, session, {
    contract: keyContracts.list,
    about: 'list the keys, without their secrets',
    input: {},
    empty: 'No keys. Make one: hotcell key create --name NAME\n',
    columns: [
      { head: 'ID', text: (row) => row.id },
      { head: 'ROLE', text: (row) => row.role },
      { head: 'MADE', text: (row) => formatTime(row.createdAtMs) },
      { head: 'LAST USED', text: (row) => (row.lastUsedAtMs === undefined ? 'never' : formatTime(row.lastUsedAtMs)) },
      { head: 'STATE', text: describeState },
      { head: 'NAME', text: (row) => row.name },
      { head: 'RULES', text: (row) => describeRules(row.rules) + describeMoved(row) },
    ],
  });

  addRules(key.command('update').description('change the rules of a key; "none" takes one away'))
    .argument('<id>', keyArgument)
    .option('--no-may-answer', 'may not answer any more')
    .option('--no-code', 'has no scripts run any more')
    .option('--json', 'as JSON')
    .action((id: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<KeyFlags>();
      const change = readRuleChanges(flags, Date.now());
      return withDaemon(session, flags, async (client) => {
        const changed = await client.invoke(keyContracts.update, { id, ...change });
        if (flags.json) return session.printJson(changed);
        session.print(`${style.green('✓')} ${id}: ${describeRules(changed.rules) || 'no rules'}.\n`);
      });
    });

  addOperation(key, session, {
    verb: 'revoke',
    contract: keyContracts.revoke,
    about: 'revoke a key at once',
    argument: ['id', keyArgument],
    input: (id) => ({ id }),
    isDone: ({ revoked }) => revoked,
    show: ({ revoked }, id) => (revoked ? `${style.green('✓')} ${id} is revoked.\n` : `There is no valid key ${id}.\n`),
  });
}

function addRules(command: Command): Command {
  return command
    .option('--tools <names...>', 'the only tools that it hears of, * for any text')
    .option('--rate <n>', 'calls a minute')
    .option('--concurrent <n>', 'calls under way at once')
    .option('--may-answer', 'may answer questions that its own calls asked')
    .option('--code', 'has scripts run that call its tools: search_code and run_code')
    .option('--models <names...>', 'the only models that it may ask: provider/model or an alias, * for any text')
    .option('--tokens-per-day <n>', 'tokens of models a day (UTC)')
    .option('--dollars-per-day <n>', 'what models may cost it a day (UTC)')
    .option('--expires <when>', 'a time such as 30d or 12h, or a date such as 2027-01-31');
}

function describeMoved({ id, rules, movedTools }: { id: string; rules: CallerRules; movedTools?: string[] }): string {
  if (movedTools === undefined) return '';
  const again = `hotcell key update ${id} --tools ${rules.tools?.join(' ') ?? ''}`;
  return `; ${movedTools.join(', ')}: another file's now, allow it with: ${again}`;
}

function describeState(row: { readonly revokedAtMs?: number; readonly rules: { readonly expiresAtMs?: number } }): string {
  if (row.revokedAtMs !== undefined) return 'revoked';
  return (row.rules.expiresAtMs ?? Number.POSITIVE_INFINITY) <= Date.now() ? 'expired' : 'valid';
}
