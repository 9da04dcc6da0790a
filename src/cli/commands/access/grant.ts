import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { Client } from '../../../client/client.ts';
import { omitUndefined } from '../../../config/json-object.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { grantContracts } from '../../../operations/contracts/access/grants.ts';
import { daemonContracts } from '../../../operations/contracts/daemon.ts';
import { isNothing } from '../../../permissions/decision.ts';
import { describeGrantCommand, parsePermissionWords } from '../../../permissions/permission-words.ts';
import { formatPermissions, paintState } from '../../render/plugin.ts';
import { tame } from '../../render/style.ts';
import { renderTable } from '../../render/table.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addCommand, withDaemon } from '../command.ts';
import { readScopeFlags } from './scope-flags.ts';

type Outcome = Static<typeof grantContracts.create.output>;
type Grant = Outcome['grant'];

const pluginArgument = 'name, name@version or path of the plugin';
const permissionArgument = 'KEY=VALUE, one a word';

/** Adds `hotcell grant`, `hotcell grants` and `hotcell revoke`. */
export function registerGrant(program: Command, session: CliSession): void {
  const { style, io } = session;

  addCommand(program, {
    name: 'grant',
    arguments: { '<name>': pluginArgument, '[permission...]': permissionArgument },
    options: {
      '--requested': 'all that it asks for and does not have',
      '--once': 'for one call',
      '--session <id>': 'for one session',
      '--caller <id>': 'whose session it is; your own by default',
      '--until <date>': 'until a date such as 2027-01-31 or 2027-01-31T12:00Z',
    },
    run: ({ name: plugin, permission: words, requested = false, ...flags }) => {
      const scope = readScopeFlags(flags);
      return withDaemon(session, flags, async (client) => {
        const { plugin: name, ...permissions } = await client.invoke(grantContracts.standing, { plugin });
        if (words.length > 0 === requested) throw refuseUse(name, permissions.pending);
        if (requested && flags.json !== true) showDifference(permissions);
        const wanted = requested ? { requested } : { permissions: { ...readWords(words) } };
        const done = await client.invoke(grantContracts.create, { plugin, ...wanted, ...scope });
        if (flags.json) return session.printJson(done);
        session.print(`${style.green('✓')} ${done.plugin} may use ${done.grant.words} ${describeScope(done.grant)}.\n`);
        showOutcome(done);
      });
    },
  });

  addClientCommand(program, session, {
    name: 'grants',
    arguments: { '[name]': pluginArgument },
    options: { '--all': 'also what was spent, ended or was revoked' },
    run: async ({ name: plugin, all, json }, client) => {
      const list = await client.invoke(grantContracts.list, omitUndefined({ plugin, all }));
      if (json) return session.printJson(list);
      const presets = plugin === undefined ? await readPresets(client) : '';
      if (list.total === 0) return session.print(presets || 'No grants. Give one: hotcell grant NAME net=api.example.com\n');
      const columns = [
        { head: 'PLUGIN', text: (row: Grant) => row.plugin, paint: style.bold },
        { head: 'GRANTED', text: (row: Grant) => formatTime(row.createdAtMs) },
        { head: 'BY', text: (row: Grant) => row.grantedBy },
        { head: 'HOLDS', text: (row: Grant) => (row.status === 'in-force' ? describeScope(row) : row.status) },
        { head: 'PERMISSIONS', text: (row: Grant) => row.words },
      ];
      session.print(`${renderTable(list.items, columns, io.columns)}${presets && `\n${presets}`}`);
    },
  });

  addCommand(program, {
    name: 'revoke',
    arguments: { '<name>': pluginArgument, '[permission...]': permissionArgument },
    run: ({ name: plugin, permission: words, json, ...flags }) => {
      if (words.length > 0) readWords(words);
      return withDaemon(session, flags, async (client) => {
        const permissions = words.length > 0 ? [...words] : undefined;
        const done = await client.invoke(grantContracts.revoke, omitUndefined({ plugin, permissions }));
        if (json) return session.printJson(done);
        for (const { words: taken } of done.revoked) session.print(`${style.green('✓')} Taken back: ${taken}\n`);
        if (!isNothing(done.preset)) session.print(`The config still grants it ${formatPermissions(done.preset)}.\n`);
        if (done.revoked.length === 0) throw nothingRevoked(done.plugin, words);
        showOutcome(done);
      });
    },
  });

  function showDifference({ granted, pending }: { readonly granted: object; readonly pending: object }): void {
    session.print(`${style.dim('has      ')} ${formatPermissions(granted)}\n`);
    session.print(`${style.dim('asks for ')} ${formatPermissions(pending)}\n`);
  }

  function showOutcome({ plugin, state, granted, pending }: Omit<Outcome, 'grant'>): void {
    session.print(`${plugin} is ${paintState(state, style)} with ${formatPermissions(granted)}`);
    session.print(isNothing(pending) ? '.\n' : `; pending: ${formatPermissions(pending)}.\n`);
  }
}

/** What holds without a grant, by the config or the start of the daemon. */
async function readPresets(client: Client): Promise<string> {
  const { config } = await client.invoke(daemonContracts.config, {});
  const ofConfig = Object.entries(Object(config.grants)).map(
    ([name, permissions]) => `The config grants ${tame(name)}: ${formatPermissions({ ...Object(permissions) })}\n`,
  );
  const ofStart = 'Every plugin has what it asks for: by --grant-requested, or grantRequested in the config.\n';
  return [...ofConfig, ...(config.grantRequested === true ? [ofStart] : [])].join('');
}

function refuseUse(name: string, pending: Outcome['pending']): HotcellError {
  const asks = isNothing(pending) ? 'It asks for nothing that it does not have.' : `It asks for ${formatPermissions(pending)}.`;
  return new HotcellError('usage-wrong', `Expected permissions, or --requested for all that "${name}" asks for. ${asks}`, {
    fix: describeGrantCommand(name, isNothing(pending) ? { net: ['api.example.com'] } : pending),
  });
}

function nothingRevoked(plugin: string, words: readonly string[]): HotcellError {
  const what = words.length === 0 ? 'no grant in force' : `no grant in force that allows ${words.join(' ')}`;
  return new HotcellError('conflict', `Nothing was taken back: "${plugin}" has ${what}.`, {
    fix: `See what it has: hotcell grants ${plugin}.`,
  });
}

function readWords(words: readonly string[]) {
  const parsed = parsePermissionWords(words);
  if (parsed.ok) return parsed.permissions;
  throw new HotcellError('usage-wrong', parsed.message, { fix: 'See hotcell docs permissions for the keys and values.' });
}

function describeScope({ scope, session, caller, untilMs }: Grant): string {
  if (scope === 'once') return 'for one call';
  if (scope === 'session') return `in session ${session ?? ''} of ${caller ?? ''}`;
  return scope === 'until' ? `until ${formatTime(untilMs ?? 0)}` : 'always';
}
