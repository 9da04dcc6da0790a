import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { omitUndefined } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { executionContracts } from '../../operations/contracts/executions.ts';
import type { ReplayEnd, ReplayReport } from '../../replay/replay-types.ts';
import { renderExecutionError } from '../render/error.ts';
import { renderLog } from '../render/log.ts';
import { type Style, tame } from '../render/style.ts';
import { formatDuration } from '../render/time-text.ts';
import type { CliSession } from '../session.ts';
import { addOperation } from './command.ts';

/** Adds `hotcell replay`. */
export function registerReplay(program: Command, session: CliSession): void {
  addOperation(program, session, {
    name: 'replay',
    arguments: { '<id>': 'the id of the execution' },
    options: {
      '--generation <which>': 'on a kept generation: its number, or the beginning of its hash',
      '--text <file>': 'on the text of a file, as the entry of the plugin',
    },
    contract: executionContracts.replay,
    input: async ({ id, generation, text: file }) => {
      const text = file === undefined ? undefined : await readText(resolve(session.io.cwd, file));
      return omitUndefined({ id, generation, text });
    },
    isDone: ({ same }) => same,
    show: (report) => renderReplay(report, session.style),
  });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new HotcellError('usage-wrong', `The file "${file}" cannot be read.`);
  }
}

function renderReplay(report: ReplayReport, style: Style): string {
  const { same, difference, asked, notes, logs, recorded, now, isSameCode, contentHash, engine, durationMs } = report;
  const code = `on ${isSameCode ? 'the recorded code' : 'other code'} (${contentHash.slice(0, 12)}, ${engine}), ${formatDuration(durationMs)}`;
  const verdict = same ? `${style.green('✓')} ended as recorded,` : `${style.red('✗')} ended otherwise,`;
  return [
    `${verdict} ${style.dim(tame(code))}\n`,
    ...(difference === undefined ? [] : [`${tame(difference)}\n`]),
    ...asked.map((sentence) => `${style.yellow('!')} ${tame(sentence)}\n`),
    ...notes.map((sentence) => style.dim(`${tame(sentence)}\n`)),
    ...(same ? [] : [renderEnd('Recorded', recorded, style)]),
    renderEnd(same ? 'Output' : 'Now', now, style),
    ...(logs.length === 0 ? [] : [`\n${style.bold('Log')}\n${renderLog(logs, style)}`]),
  ].join('');
}

function renderEnd(head: string, { status, output, error }: ReplayEnd, style: Style): string {
  const what = error === undefined ? `${tame(JSON.stringify(output, null, 2) ?? status)}\n` : renderExecutionError(error, style);
  return `\n${style.bold(head)}\n${what}`;
}
