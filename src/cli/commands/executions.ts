import type { Command } from 'commander';
import type { Execution, ExecutionStatus } from '../../calls/call-types.ts';
import type { Client } from '../../client/client.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { executionContracts } from '../../operations/contracts/executions.ts';
import { renderExecutionError } from '../render/error.ts';
import { formatDuration, formatTime } from '../render/format.ts';
import { renderLog } from '../render/log.ts';
import { tame } from '../render/style.ts';
import { renderTable } from '../render/table.ts';
import type { CliSession } from '../session.ts';
import { addDefaultList, type ListFlags, withDaemon } from './command.ts';
import { addOperation } from './operation-command.ts';

interface ExecutionFlags extends ListFlags {
  readonly tool?: string;
  readonly status?: string;
  readonly parent?: string;
  readonly limit?: string;
}

/** One question to the daemon waits at most so long: less than what proxies and clients cut. */
const maxWaitMs = 25_000;

const statuses: readonly ExecutionStatus[] = ['pending', 'running', 'success', 'error', 'timeout', 'cancelled'];

/** Adds `hotcell executions …`. */
export function registerExecutions(program: Command, session: CliSession): void {
  const executions = program.command('executions');
  const { style, io } = session;

  addDefaultList(executions, 'list calls, newest first')
    .option('--tool <name>', 'only of this tool')
    .option('--status <status>', `only ${statuses.join(', ')}`)
    .option('--parent <id>', 'only the calls that this call made')
    .option('--limit <n>', 'how many', '20')
    .action((_options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ExecutionFlags>();
      const status = flags.status === undefined ? {} : { status: readStatus(flags.status) };
      const query = {
        limit: readLimit(flags.limit),
        ...status,
        ...(flags.tool === undefined ? {} : { tool: flags.tool }),
        ...(flags.parent === undefined ? {} : { parent: flags.parent }),
      };
      return withDaemon(session, flags, async (client) => {
        const list = await client.invoke(executionContracts.list, query);
        if (flags.json) return session.printJson(list);
        if (list.items.length === 0) return session.print('No calls.\n');
        const paintStatus = (text: string, row: Execution) =>
          row.status === 'success' ? style.green(text) : ['pending', 'running'].includes(row.status) ? text : style.red(text);
        const columns = [
          { head: 'ID', text: (row: Execution) => row.id },
          { head: 'TIME', text: (row: Execution) => formatTime(row.createdAtMs) },
          { head: 'STATUS', text: (row: Execution) => row.status, paint: paintStatus },
          { head: 'TOOK', text: (row: Execution) => (row.durationMs === undefined ? '' : formatDuration(row.durationMs)) },
          { head: 'CALLER', text: (row: Execution) => row.caller },
          { head: 'TOOL', text: (row: Execution) => `${row.tool}@${row.version}` },
          { head: 'ERROR', text: (row: Execution) => row.error?.message ?? '' },
        ];
        session.print(renderTable(list.items, columns, io.columns));
      });
    });

  executions
    .command('show')
    .description('show one call')
    .argument('<id>', 'its id')
    .option('--wait', 'wait until it has ended')
    .option('--json', 'as JSON')
    .action((id: string, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { readonly wait?: boolean }>();
      return withDaemon(session, flags, async (client) => {
        const execution = await readExecution(client, id, flags.wait === true);
        if (flags.json) return session.printJson(execution);
        const took = execution.durationMs === undefined ? '' : ` in ${formatDuration(execution.durationMs)}`;
        session.print(`${style.bold(execution.id)}  ${execution.tool}@${execution.version}  ${execution.status}${took}\n`);
        session.print(
          style.dim(
            tame(`called by ${execution.caller} in session ${execution.session}, ${formatTime(execution.createdAtMs)}\n`),
          ),
        );
        if (execution.engine !== undefined) session.print(style.dim(`run by ${execution.engine}\n`));
        if (execution.parent !== undefined) session.print(style.dim(`called by the call ${execution.parent}\n`));
        session.print(`\n${style.bold('Arguments')}\n${tame(JSON.stringify(execution.arguments, null, 2))}\n`);
        if (execution.output !== undefined)
          session.print(`\n${style.bold('Output')}\n${tame(JSON.stringify(execution.output, null, 2))}\n`);
        if (execution.logs !== undefined) session.print(`\n${style.bold('Log')}\n${renderLog(execution.logs, style)}`);
        if (execution.error !== undefined) session.print(`\n${renderExecutionError(execution.error, style)}`);
      });
    });

  addOperation(executions, session, {
    verb: 'cancel',
    contract: executionContracts.cancel,
    about: 'cancel a call that waits or runs',
    argument: ['id', 'its id'],
    input: (id) => ({ id }),
    show: ({ cancelled }, id) => (cancelled ? `${style.green('✓')} ${id} is cancelled.\n` : `${id} had ended already.\n`),
  });
}

/** With `wait` it asks until the call has ended: a person may be asked first, and take days. */
async function readExecution(client: Client, id: string, wait: boolean): Promise<Execution> {
  for (;;) {
    const execution = await client.invoke(executionContracts.get, wait ? { id, waitMs: maxWaitMs } : { id });
    if (!wait || execution.endedAtMs !== undefined) return execution;
  }
}

function readStatus(text: string): ExecutionStatus {
  const status = statuses.find((candidate) => candidate === text);
  if (status !== undefined) return status;
  throw new HotcellError('usage-wrong', `Expected --status to be one of ${statuses.join(', ')}, got "${text}".`);
}

/** The flag --limit of a list. */
export function readLimit(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,2}$|^1000$/.test(text)) return Number(text);
  throw new HotcellError('usage-wrong', `Expected --limit from 1 to 1000, got "${text}".`);
}
