import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { CliFlags } from '../../config/read/sources.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { parseArguments, readCommandArguments } from '../calling/call-arguments.ts';
import { callAndFollow } from '../calling/follow-call.ts';
import { printAnswer } from '../calling/print-answer.ts';
import type { CliSession } from '../session.ts';
import { withDaemonOrAlone } from './command.ts';

interface CallFlags extends CliFlags {
  readonly json?: string;
  readonly full?: boolean;
  readonly output?: string;
  readonly session?: string;
  readonly timeout?: string;
  readonly idempotencyKey?: string;
}

/** Adds `hotcell call`: one call, by the running daemon or, without one, in this process. */
export function registerCall(program: Command, session: CliSession): void {
  program
    .command('call')
    .argument('<name>', 'name, name@version or name@range')
    .argument('[arguments...]', 'key=value, key:=json, or - for JSON from standard input')
    .option('--json <object>', 'all arguments as one JSON object')
    .option('--full', 'print the whole answer as JSON')
    .option('--output <file>', 'write the output into a file: the bytes of an image or file, else the text')
    .option('--session <id>', 'the session that the call belongs to')
    .option('--timeout <ms>', 'stop the call after this time')
    .option('--idempotency-key <key>', 'run a repeated call only once')
    .action(async (ref: string, words: string[], _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<CallFlags>();
      const timeoutMs = readTimeout(flags.timeout);
      await withDaemonOrAlone(session, { ...flags, keeps: true }, async (client) => {
        const input = {
          ref,
          arguments: await collectArguments(session, client, { ref, words, json: flags.json }),
          ...(flags.session === undefined ? {} : { session: flags.session }),
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey }),
        };
        await printAnswer(session, await callAndFollow(session, client, toolContracts.call, input), flags);
      });
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
  if (readsInput) return parseArguments(await io.readStdin());
  if (words.length === 0) return {};
  return readCommandArguments(words, (await client.invoke(toolContracts.get, { ref })).input);
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new HotcellError('usage-wrong', `Expected --timeout in whole milliseconds, got "${text}".`);
}
