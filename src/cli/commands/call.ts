import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { parseArguments, parsePipedArguments, readCommandArguments } from '../calling/call-arguments.ts';
import { callAndFollow } from '../calling/follow-call.ts';
import { printAnswer } from '../calling/print-answer.ts';
import type { CliSession } from '../session.ts';
import { addClientCommand, addCommand, withDaemon } from './command.ts';

const callOptions = {
  '--full': 'print the whole answer as JSON',
  '--output <file>': 'write the output into a file: the bytes of an image or file, else the text',
  '--session <id>': 'the session that the call belongs to',
} as const;

/** Adds `hotcell call`: one call, by the running daemon or, without one, in this process. */
export function registerCall(program: Command, session: CliSession): void {
  addClientCommand(program, session, {
    name: 'call',
    arguments: {
      '<name>': 'name, name@version or name@range',
      '[arguments...]': 'key=value, key:=json, or - for JSON from standard input',
    },
    options: {
      '--json <object>': 'all arguments as one JSON object',
      ...callOptions,
      '--timeout <ms>': { about: 'stop the call after this time', range: [1, 9_999_999] },
      '--idempotency-key <key>': 'run a repeated call only once',
    },
    json: false,
    reach: 'keeps',
    run: async ({ name: ref, arguments: words, json, full, output, session: name, timeout, idempotencyKey }, client) => {
      const args = await collectArguments(session, client, { ref, words, json });
      const input = omitUndefined({ ref, arguments: args, session: name, timeoutMs: timeout, idempotencyKey });
      await printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), { full, output });
    },
  });
}

/** Adds `hotcell code`: runs a script over tools, as models do with `run_code`. */
export function registerCode(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'code',
    arguments: { '<file>': 'a script with tools.NAME(args), await and return; - reads the standard input' },
    options: callOptions,
    json: false,
    run: async ({ file, full, output, session: name, ...flags }) => {
      const code = file === '-' ? await session.io.readStdin() : await readScript(resolve(session.io.cwd, file));
      const input = omitUndefined({ ref: 'run_code', arguments: { code }, session: name });
      await withDaemon(
        session,
        flags,
        async (client) => printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), { full, output }),
        'keeps',
      );
    },
  });
}

async function collectArguments(
  { io }: CliSession,
  client: Client,
  given: { readonly ref: string; readonly words: readonly string[]; readonly json: string | undefined },
): Promise<Record<string, unknown>> {
  const { ref, words, json } = given;
  const readsInput = words.length === 1 && words[0] === '-';
  if (json !== undefined && words.length > 0) {
    throw new HotcellError('usage-wrong', 'Expected the arguments once: as words, as --json, or from standard input.');
  }
  if (json !== undefined) return parseArguments(json);
  if (readsInput) return parsePipedArguments(await io.readStdin());
  if (words.length === 0) return {};
  return readCommandArguments(words, (await client.invoke(toolContracts.get, { ref })).input);
}

async function readScript(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new HotcellError('usage-wrong', `The script ${path} cannot be read.`, { fix: 'Name a file that is there.', cause });
  });
}
