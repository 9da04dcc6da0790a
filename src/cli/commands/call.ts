import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CallAnswer } from '../../calls/call-types.ts';
import type { Client } from '../../client/client.ts';
import type { CliFlags } from '../../config/sources.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { toolContracts } from '../../operations/contracts/tools.ts';
import { parseArguments, readCommandArguments } from '../call-arguments.ts';
import { exitCodeFor, exitCodes } from '../exit-codes.ts';
import { callAndFollow } from '../follow-call.ts';
import { renderExecutionError } from '../render/error.ts';
import { outputContent, renderOutput } from '../render/output.ts';
import { tame } from '../render/style.ts';
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
        await showAnswer(session, await callAndFollow(session, client, input), flags);
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

async function showAnswer(
  session: CliSession,
  answer: CallAnswer,
  { full: isFull = false, output: file }: CallFlags,
): Promise<void> {
  if (isFull) session.printJson(answer);
  else if (answer.status === 'success' && file !== undefined) await writeOutput(session, file, answer.output);
  else if (answer.status === 'success') session.print(renderOutput(answer.output, session.io.isTTY));
  const { climbed, warnings = [] } = answer;
  if (!isFull) for (const warning of warnings) session.note(`Warning: ${tame(warning)}\n`);
  if (climbed !== undefined && !isFull) session.note(`Run again on ${climbed.to}: ${tame(climbed.reason)}\n`);
  if (answer.status === 'success') return;
  session.exitCode = answer.error === undefined ? exitCodes.failed : exitCodeFor(answer.error.code) || exitCodes.failed;
  if (answer.error !== undefined) session.note(renderExecutionError(answer.error, session.style));
}

async function writeOutput({ io, note }: CliSession, file: string, output: unknown): Promise<void> {
  const path = resolve(io.cwd, file);
  const content = outputContent(output);
  try {
    await writeFile(path, content);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HotcellError('usage-wrong', `The output could not be written to ${file}: ${reason}.`);
  }
  note(`Wrote ${file} (${Buffer.byteLength(content)} bytes).\n`);
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new HotcellError('usage-wrong', `Expected --timeout in whole milliseconds, got "${text}".`);
}
