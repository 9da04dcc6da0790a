import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CliFlags } from '../../config/read/sources.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { callAndFollow } from '../calling/follow-call.ts';
import { printAnswer } from '../calling/print-answer.ts';
import type { CliSession } from '../session.ts';
import { withDaemonOrAlone } from './command.ts';

interface CodeFlags extends CliFlags {
  readonly full?: boolean;
  readonly output?: string;
  readonly session?: string;
}

/** Adds `hotcell code`: runs a script over tools, as models do with `run_code`. */
export function registerCode(program: Command, session: CliSession): void {
  program
    .command('code')
    .argument('<file>', 'a script with tools.NAME(args), await and return; - reads the standard input')
    .option('--full', 'print the whole answer as JSON')
    .option('--output <file>', 'write the output into a file: the bytes of an image or file, else the text')
    .option('--session <id>', 'the session that the call belongs to')
    .action(async (file: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<CodeFlags>();
      const code = file === '-' ? await session.io.readStdin() : await readScript(resolve(session.io.cwd, file));
      await withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const input = {
          ref: 'run_code',
          arguments: { code },
          ...(flags.session === undefined ? {} : { session: flags.session }),
        };
        await printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), flags);
      });
    });
}

async function readScript(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new HotcellError('usage-wrong', `The script ${path} cannot be read.`, { fix: 'Name a file that is there.', cause });
  });
}
