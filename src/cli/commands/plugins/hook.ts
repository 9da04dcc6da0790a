import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { type HookItem, hookContracts } from '../../../operations/contracts/hooks.ts';
import { cleanUntrustedText } from '../../../permissions/untrusted-text.ts';
import { exitCodes } from '../../exit-codes.ts';
import { askYesNo } from '../../questions/ask.ts';
import { renderHook } from '../../render/hook.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addListing, addOperation } from '../command.ts';

const onHook = { arguments: { '<name>': 'NAME, or SKILL/NAME' } } as const;
const offNotice = 'Hooks are switched off, by hooks.enabled in the config or by safe mode: none of them runs.\n';

/** Adds `hotcell hook …`. */
export function registerHook(program: Command, session: CliSession): void {
  const hook = program.command('hook');
  const { style } = session;

  addListing(hook, session, {
    name: 'list',
    isDefault: true,
    about: 'list the hooks of the data folder and of skills',
    contract: hookContracts.list,
    before: ({ isOn }) => (isOn ? undefined : session.note(style.yellow(offNotice))),
    empty: 'No hooks. One is a folder with a HOOK.md in hooks/ of the data folder.\n',
    columns: [
      { head: 'HOOK', text: (row) => row.name, paint: style.bold },
      { head: 'STATE', text: (row) => row.state },
      { head: 'EVENTS', text: (row) => row.events.join(' ') || '-' },
      { head: 'ABOUT', text: (row) => cleanUntrustedText(row.problem ?? row.description) },
    ],
  });

  addOperation(hook, session, {
    ...onHook,
    name: 'show',
    about: 'show one hook: its events, what it asks for, its files',
    contract: hookContracts.get,
    show: (view) => renderHook(view, style),
  });

  addClientCommand(hook, session, {
    name: 'approve',
    about: 'let a hook run with exactly the files that it has now, with what its HOOK.md asks for',
    arguments: onHook.arguments,
    options: { '--yes': 'approve without asking', '--hash <hash>': 'only when the files still have this hash' },
    run: async ({ name, ...flags }, client) => {
      const view = await client.invoke(hookContracts.get, { name });
      if (!flags.json) session.print(renderHook(view, style));
      if (view.state === 'invalid')
        throw new HotcellError('hook-invalid', `The hook "${name}" is not valid: ${view.problem ?? ''}`);
      if (flags.hash !== undefined && flags.hash !== view.contentHash) {
        throw new HotcellError('conflict', `The files of the hook "${name}" have the hash ${view.contentHash} now.`, {
          fix: `Look at them again: hotcell hook show ${name}`,
        });
      }
      if (!(await isAgreed(session, view, flags.yes))) return session.note('Not approved.\n');
      const approved = await client.invoke(hookContracts.approve, { name, contentHash: view.contentHash });
      if (approved.state !== 'active') session.exitCode = exitCodes.failed;
      if (flags.json) return session.printJson(approved);
      if (approved.state === 'active') return session.print(`${style.green('✓')} ${name} is approved and runs.\n`);
      session.print(`${style.red('✗')} ${name} is approved, but it cannot run: ${tame(approved.problem ?? approved.state)}\n`);
    },
  });

  addOperation(hook, session, {
    ...onHook,
    name: 'revoke',
    about: 'take the approval of a hook back at once',
    contract: hookContracts.revoke,
    findMissing: ({ revoked }, { name }) =>
      revoked
        ? undefined
        : new HotcellError('conflict', `Nothing was taken back: the hook "${name}" was not approved, and does not run.`, {
            fix: 'See which run: hotcell hook list.',
          }),
    show: (_answer, { name }) => `${style.green('✓')} ${name} does not run any more.\n`,
  });
}

async function isAgreed({ io }: CliSession, { name }: HookItem, isYes = false): Promise<boolean> {
  if (isYes) return true;
  if (io.ask === undefined) {
    throw new HotcellError('usage-wrong', 'Nobody can be asked here, because this is no terminal.', {
      fix: `Look at the files of the hook, then: hotcell hook approve ${name} --yes`,
    });
  }
  return (await askYesNo(io, 'Approve these files, and grant what they ask for?')) === true;
}
