import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { type HookItem, hookContracts } from '../../../operations/contracts/hooks.ts';
import { exitCodes } from '../../exit-codes.ts';
import { askYesNo } from '../../questions/ask.ts';
import { renderHook, renderHooks } from '../../render/hook.ts';
import { tame } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from '../command.ts';
import { addOperation } from '../operation-command.ts';

interface ApproveFlags extends ListFlags {
  readonly yes?: boolean;
  readonly hash?: string;
}

const hookArgument = 'NAME, or SKILL/NAME';
const offNotice = 'Hooks are switched off, by hooks.enabled in the config or by safe mode: none of them runs.\n';

/** Adds `hotcell hook …`. */
export function registerHook(program: Command, session: CliSession): void {
  const hook = program.command('hook');
  const { style, io } = session;

  addDefaultList(hook, 'list the hooks of the data folder and of skills').action((_options: unknown, command: Command) => {
    const flags = command.optsWithGlobals<ListFlags>();
    return withDaemon(session, flags, async (client) => {
      const list = await client.invoke(hookContracts.list, {});
      if (flags.json) return session.printJson(list);
      if (!list.isOn) session.note(style.yellow(offNotice));
      if (list.total === 0) return session.print('No hooks. One is a folder with a HOOK.md in hooks/ of the data folder.\n');
      session.print(renderHooks(list.items, style, io.columns));
    });
  });

  addOperation(hook, session, {
    verb: 'show',
    contract: hookContracts.get,
    about: 'show one hook: its events, what it asks for, its files',
    argument: ['name', hookArgument],
    input: (name) => ({ name }),
    show: (view) => renderHook(view, style),
  });

  hook
    .command('approve')
    .description('let a hook run with exactly the files that it has now, with what its HOOK.md asks for')
    .argument('<name>', hookArgument)
    .option('--yes', 'approve without asking')
    .option('--hash <hash>', 'only when the files still have this hash')
    .option('--json', 'as JSON')
    .action((name: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ApproveFlags>();
      return withDaemon(session, flags, async (client) => {
        const view = await client.invoke(hookContracts.get, { name });
        if (!flags.json) session.print(renderHook(view, style));
        if (view.state === 'invalid')
          throw new HotcellError('hook-invalid', `The hook "${name}" is not valid: ${view.problem ?? ''}`);
        if (flags.hash !== undefined && flags.hash !== view.contentHash) {
          throw new HotcellError('conflict', `The files of the hook "${name}" have the hash ${view.contentHash} now.`, {
            fix: `Look at them again: hotcell hook show ${name}`,
          });
        }
        if (!(await isAgreed(session, view, flags))) return session.note('Not approved.\n');
        const approved = await client.invoke(hookContracts.approve, { name, contentHash: view.contentHash });
        if (approved.state !== 'active') session.exitCode = exitCodes.failed;
        if (flags.json) return session.printJson(approved);
        if (approved.state === 'active') return session.print(`${style.green('✓')} ${name} is approved and runs.\n`);
        session.print(`${style.red('✗')} ${name} is approved, but it cannot run: ${tame(approved.problem ?? approved.state)}\n`);
      });
    });

  addOperation(hook, session, {
    verb: 'revoke',
    contract: hookContracts.revoke,
    about: 'take the approval of a hook back at once',
    argument: ['name', hookArgument],
    input: (name) => ({ name }),
    isDone: ({ revoked }) => revoked,
    show: ({ revoked }, name) =>
      revoked ? `${style.green('✓')} ${name} does not run any more.\n` : `${name} was not approved.\n`,
  });
}

async function isAgreed({ io }: CliSession, { name }: HookItem, flags: ApproveFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  if (io.ask === undefined) {
    throw new HotcellError('usage-wrong', 'Nobody can be asked here, because this is no terminal.', {
      fix: `Look at the files of the hook, then: hotcell hook approve ${name} --yes`,
    });
  }
  return (await askYesNo(io, 'Approve these files, and grant what they ask for?')) === true;
}
