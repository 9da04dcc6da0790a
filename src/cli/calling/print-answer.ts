import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CallAnswer } from '../../calls/call-types.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { exitCodeFor, exitCodes } from '../exit-codes.ts';
import { renderExecutionError } from '../render/error.ts';
import { outputContent, renderOutput } from '../render/output.ts';
import { tame } from '../render/style.ts';
import type { CliSession } from '../session.ts';

/** How an answer is shown. */
export interface AnswerFlags {
  /** All of it, as JSON. */
  readonly full?: boolean | undefined;
  /** A file that gets the output. */
  readonly output?: string | undefined;
  /** How the output reads on a screen. */
  readonly render?: (output: unknown, isTTY: boolean) => string;
}

/** Prints what a call answered, tells what went wrong beside it, and sets the exit code. */
export async function printAnswer(
  session: CliSession,
  answer: CallAnswer,
  { full: isFull = false, output: file, render = renderOutput }: AnswerFlags,
): Promise<void> {
  if (isFull) session.printJson(answer);
  else if (answer.status === 'success' && file !== undefined) await writeOutput(session, file, answer.output);
  else if (answer.status === 'success') session.print(render(answer.output, session.io.isTTY));
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
