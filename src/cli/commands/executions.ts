import type { Command } from 'commander';
import type { Execution, ExecutionStatus } from '../../calls/call-types.ts';
import type { Client } from '../../client/client.ts';
import { executionContracts } from '../../operations/contracts/executions.ts';
import { renderExecutionError } from '../render/error.ts';
import { renderLog } from '../render/log.ts';
import { type Style, tame } from '../render/style.ts';
import { formatDuration, formatTime } from '../render/time-text.ts';
import type { CliSession } from '../session.ts';
import { addClientCommand, addListing, addOperation } from './command.ts';

/** One question to the daemon waits at most so long: less than what proxies and clients cut. */
const maxWaitMs = 25_000;

const statuses: readonly ExecutionStatus[] = ['pending', 'running', 'success', 'error', 'timeout', 'cancelled'];

/** Adds `hotcell executions …`. */
export function registerExecutions(program: Command, session: CliSession): void {
  const executions = program.command('executions');
  const { style } = session;

  addListing(executions, session, {
    name: 'list',
    isDefault: true,
    about: 'list calls, newest first',
    options: {
      '--tool <name>': 'only of this tool',
      '--status <status>': { about: 'only those with this status', choices: statuses },
      '--parent <id>': 'only the calls that this call made',
      '--limit <n>': { about: 'how many', range: [1, 1000], usual: 20 },
    },
    contract: executionContracts.list,
    empty: 'No calls.\n',
    columns: [
      { head: 'ID', text: (row) => row.id },
      { head: 'TIME', text: (row) => formatTime(row.createdAtMs) },
      {
        head: 'STATUS',
        text: (row) => row.status,
        paint: (text, { status }) =>
          status === 'success' ? style.green(text) : ['pending', 'running'].includes(status) ? text : style.red(text),
      },
      { head: 'TOOK', text: (row) => (row.durationMs === undefined ? '' : formatDuration(row.durationMs)) },
      { head: 'CALLER', text: (row) => row.caller },
      { head: 'TOOL', text: (row) => `${row.tool}@${row.version}` },
      { head: 'ERROR', text: (row) => row.error?.message ?? '' },
    ],
  });

  addClientCommand(executions, session, {
    name: 'show',
    about: 'show one call',
    arguments: { '<id>': 'its id' },
    options: { '--wait': 'wait until it has ended' },
    run: async (given, client) => {
      const execution = await readExecution(client, given.id, given.wait === true);
      if (given.json) session.printJson(execution);
      else session.print(renderExecution(execution, style));
    },
  });

  addOperation(executions, session, {
    name: 'cancel',
    about: 'cancel a call that waits or runs',
    arguments: { '<id>': 'its id' },
    contract: executionContracts.cancel,
    show: ({ cancelled }, { id }) => (cancelled ? `${style.green('✓')} ${id} is cancelled.\n` : `${id} had ended already.\n`),
  });
}

/** With `wait` it asks until the call has ended: a person may be asked first, and take days. */
async function readExecution(client: Client, id: string, wait: boolean): Promise<Execution> {
  for (;;) {
    const execution = await client.invoke(executionContracts.get, wait ? { id, waitMs: maxWaitMs } : { id });
    if (!wait || execution.endedAtMs !== undefined) return execution;
  }
}

function renderExecution(execution: Execution, style: Style): string {
  const { id, tool, version, status, durationMs, caller, session, createdAtMs, engine, parent, output, logs, error } = execution;
  const took = durationMs === undefined ? '' : ` in ${formatDuration(durationMs)}`;
  const part = (head: string, value: unknown) => `\n${style.bold(head)}\n${tame(JSON.stringify(value, null, 2))}\n`;
  return [
    `${style.bold(id)}  ${tool}@${version}  ${status}${took}\n`,
    style.dim(tame(`called by ${caller} in session ${session}, ${formatTime(createdAtMs)}\n`)),
    engine === undefined ? '' : style.dim(`run by ${engine}\n`),
    parent === undefined ? '' : style.dim(`called by the call ${parent}\n`),
    part('Arguments', execution.arguments),
    output === undefined ? '' : part('Output', output),
    logs === undefined ? '' : `\n${style.bold('Log')}\n${renderLog(logs, style)}`,
    error === undefined ? '' : `\n${renderExecutionError(error, style)}`,
  ].join('');
}
