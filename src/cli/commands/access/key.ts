import type { Command } from 'commander';
import type { CallerRules } from '../../../callers/caller.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { askForOneOf, suggestNearNames } from '../../../errors/near-names.ts';
import { keyContracts } from '../../../operations/contracts/access/keys.ts';
import { tame } from '../../render/style.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addListing, addOperation } from '../command.ts';
import { describeRules, readNewRules, readRuleChanges } from './key-rules.ts';

const keyArgument = { '<id>': 'its id, as hotcell key list shows it' } as const;

const ruleOptions = {
  '--tools <names...>': 'the only tools that it hears of, * for any text',
  '--rate <n>': 'calls a minute',
  '--concurrent <n>': 'calls under way at once',
  '--may-answer': 'may answer questions that its own calls asked',
  '--code': 'has scripts run that call its tools: search_code and run_code',
  '--models <names...>': 'the only models that it may ask: provider/model or an alias, * for any text',
  '--tokens-per-day <n>': 'tokens of models a day (UTC)',
  '--dollars-per-day <n>': 'what models may cost it a day (UTC)',
  '--expires <when>': 'a time such as 30d or 12h, or a date such as 2027-01-31',
} as const;

/** Adds `hotcell key …`. */
export function registerKey(program: Command, session: CliSession): void {
  const key = program.command('key');
  const { style } = session;

  addOperation(key, session, {
    name: 'create',
    about: 'make a key; it is shown this once',
    options: {
      ...ruleOptions,
      '--role <role>': {
        about: 'caller (may call tools) or admin (may do everything)',
        choices: ['caller', 'admin'],
        usual: 'caller',
      },
      '--name <name>': 'what the key is for',
    },
    contract: keyContracts.create,
    input: ({ role, name, ...flags }) => omitUndefined({ role, name, ...readNewRules(flags, Date.now()) }),
    show({ id, role, rules, key: made, missingTools }) {
      const said = describeRules(rules);
      session.note(style.dim(`${id}, role ${role}${said && `, ${said}`}. This is the only time that the key is shown.\n`));
      noteMissing(missingTools);
      return `${made}\n`;
    },
  });

  addListing(key, session, {
    name: 'list',
    isDefault: true,
    about: 'list the keys, without their secrets',
    contract: keyContracts.list,
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

  addOperation(key, session, {
    name: 'update',
    about: 'change the rules of a key; "none" takes one away',
    arguments: keyArgument,
    options: {
      ...ruleOptions,
      '--no-may-answer': 'may not answer any more',
      '--no-code': 'has no scripts run any more',
    },
    contract: keyContracts.update,
    input: ({ id, ...flags }) => ({ id, ...readRuleChanges(flags, Date.now()) }),
    show({ rules, missingTools }, { id }) {
      noteMissing(missingTools);
      return `${style.green('✓')} ${id}: ${describeRules(rules) || 'no rules'}.\n`;
    },
  });

  addOperation(key, session, {
    name: 'revoke',
    about: 'revoke a key at once',
    arguments: keyArgument,
    contract: keyContracts.revoke,
    findMissing: async ({ revoked }, { id }, client) => {
      if (revoked) return undefined;
      const valid = (await client.invoke(keyContracts.list, {})).items.filter((row) => row.revokedAtMs === undefined);
      const near = suggestNearNames(
        id,
        valid.map((row) => row.id),
      );
      return new HotcellError('key-unknown', `There is no valid key "${id.slice(0, 64)}".${near}`);
    },
    show: (_answer, { id }) => `${style.green('✓')} ${id} is revoked.\n`,
  });

  /** It is no error: the plugin may come later. */
  function noteMissing(missing: readonly { readonly name: string; readonly near: readonly string[] }[] = []): void {
    for (const { name, near } of missing) {
      const said = `No tool is called "${tame(name)}" now: the key reaches it once one is.${askForOneOf(near)}`;
      session.note(`${style.yellow('!')} ${said} List the tools: hotcell tool list\n`);
    }
  }
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
