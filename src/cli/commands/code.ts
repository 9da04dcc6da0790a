import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { omitUndefined } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { callAndFollow } from '../calling/follow-call.ts';
import { printAnswer } from '../calling/print-answer.ts';
import type { CliSession } from '../session.ts';
import { addCommand, withDaemon } from './command.ts';

/** Adds `hotcell code`: runs a script over tools, as models do with `run_code`. */
export function registerCode(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'code',
    arguments: { '<file>': 'a script with tools.NAME(args), await and return; - reads the standard input' },
    options: {
      '--full': 'print the whole answer as JSON',
      '--output <file>': 'write the output into a file: the bytes of an image or file, else the text',
      '--session <id>': 'the session that the call belongs to',
    },
    json: false,
    run: async ({ file, full, output, session: name, ...flags }) => {
      const code = file === '-' ? await session.io.readStdin() : await readScript(resolve(session.io.cwd, file));
      const input = omitUndefined({ ref: 'run_code', arguments: { code }, session: name });
      await withDaemon(
        session,
        flags,
        async (client) => {
          await printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), { full, output });
        },
        'keeps',
      );
    },
  });
}

async function readScript(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new HotcellError('usage-wrong', `The script ${path} cannot be read.`, { fix: 'Name a file that is there.', cause });
  });
}
