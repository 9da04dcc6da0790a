import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import { omitUndefined } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { parseArguments, parsePipedArguments, readCommandArguments } from '../calling/call-arguments.ts';
import { callAndFollow } from '../calling/follow-call.ts';
import { printAnswer } from '../calling/print-answer.ts';
import type { CliSession } from '../session.ts';
import { addCommand, withDaemon } from './command.ts';

/** Adds `hotcell call`: one call, by the running daemon or, without one, in this process. */
export function registerCall(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'call',
    arguments: {
      '<name>': 'name, name@version or name@range',
      '[arguments...]': 'key=value, key:=json, or - for JSON from standard input',
    },
    options: {
      '--json <object>': 'all arguments as one JSON object',
      '--full': 'print the whole answer as JSON',
      '--output <file>': 'write the output into a file: the bytes of an image or file, else the text',
      '--session <id>': 'the session that the call belongs to',
      '--timeout <ms>': { about: 'stop the call after this time', range: [1, 9_999_999] },
      '--idempotency-key <key>': 'run a repeated call only once',
    },
    json: false,
    run: ({ name: ref, arguments: words, json, full, output, session: name, timeout: timeoutMs, idempotencyKey, data, config }) =>
      withDaemon(
        session,
        { data, config },
        async (client) => {
          const args = await collectArguments(session, client, { ref, words, json });
          const input = omitUndefined({ ref, arguments: args, session: name, timeoutMs, idempotencyKey });
          await printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), { full, output });
        },
        'keeps',
      ),
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
