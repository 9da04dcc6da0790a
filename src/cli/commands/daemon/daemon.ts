import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { readDaemonFile } from '../../../client/daemon-file.ts';
import { isRunning } from '../../../engines/running-process.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { EventEnvelope } from '../../../events/event.ts';
import { daemonContracts } from '../../../operations/contracts/daemon.ts';
import { eventContracts } from '../../../operations/contracts/events.ts';
import { drainMs } from '../../../operations/daemon-types.ts';
import { describeNoDaemon, findDataDir } from '../../data-dir.ts';
import { createLiveCalls } from '../../render/live-calls.ts';
import { renderLiveEvent } from '../../render/live-event.ts';
import { tame } from '../../render/style.ts';
import { formatTime } from '../../render/time-text.ts';
import type { CliSession } from '../../session.ts';
import { addClientCommand, addCommand, withDaemon } from '../command.ts';

const lookBackEvents = 200;
const lookAgainMs = 50;

/** Adds `hotcell status`, `hotcell stop`, `hotcell logs` and `hotcell version`: the daemon as a whole. */
export function registerDaemon(program: Command, session: CliSession): void {
  const { style, io } = session;

  addClientCommand(program, session, {
    name: 'status',
    run: async ({ json }, client) => {
      const status = await client.invoke(daemonContracts.status, {});
      if (json) return session.printJson(status);
      const states = Object.entries(status.plugins).map(([state, count]) => `${count} ${state}`);
      const { pending, running } = status.calls;
      const node = status.node === undefined ? '' : ` on Node ${status.node}`;
      session.print(`${style.bold(`Hotcell ${status.version}`)}${node}, since ${formatTime(status.startedAtMs)}\n`);
      if (client.url !== undefined) session.print(`address  ${client.url}\n`);
      session.print(`plugins  ${states.join(', ') || 'none'}\ntools    ${status.tools}\n`);
      session.print(`calls    ${running} running, ${pending} waiting\n`);
      const waiting = (status.openQuestions ?? 0) === 0 ? 'none' : `${status.openQuestions} (answer them: hotcell approve)`;
      session.print(`questions ${waiting}\n`);
      const { problem, restart = [] } = status.config ?? {};
      if (problem !== undefined) session.print(`config   ${style.red(tame(problem))} The values from before stay.\n`);
      if (restart.length > 0) session.print(`config   ${style.yellow(`after a restart: ${restart.join(', ')}`)}\n`);
      if (client.isOutdated) session.note(style.yellow('The program has changed since the daemon started: start it again.\n'));
    },
  });

  addCommand(program, {
    name: 'stop',
    run: async ({ json, ...flags }) => {
      if ((io.env.HOTCELL_URL ?? '') !== '') {
        throw new HotcellError('usage-wrong', 'Expected a daemon of this machine; HOTCELL_URL names one by its address.', {
          fix: 'End that one where it was started, or unset HOTCELL_URL.',
        });
      }
      const dataDir = await findDataDir(flags, io, session.readConfig);
      // Whoever answers is the daemon that wrote the file, and not a process that got its number since.
      await withDaemon(session, flags, (client) => client.invoke(daemonContracts.status, {}));
      const daemon = readDaemonFile(dataDir);
      if (daemon === undefined) throw describeNoDaemon(dataDir);
      process.kill(daemon.pid, 'SIGTERM');
      if (!json) session.note(style.dim(`Stopping: running calls may end within ${drainMs / 1000} s.\n`));
      while (isRunning(daemon.pid)) await setTimeout(lookAgainMs, undefined, { signal: io.signal });
      if (json) session.printJson({ stopped: true, pid: daemon.pid });
      else session.print(`${style.green('✓')} The daemon of ${dataDir} has ended.\n`);
    },
  });

  addClientCommand(program, session, {
    name: 'logs',
    options: { '-f, --follow': 'go on until interrupted, with what calls log' },
    json: 'one JSON object a line',
    run: async ({ follow, json }, client) => {
      const calls = createLiveCalls(style, () => undefined);
      const show = (event: EventEnvelope): void => {
        if (json) session.print(`${JSON.stringify(event)}\n`);
        else session.print(event.type.startsWith('execution-') ? calls.render(event) : renderLiveEvent(event, style));
      };
      const { lastSeq } = await client.invoke(eventContracts.list, { limit: 1, after: Number.MAX_SAFE_INTEGER });
      const after = Math.max(0, lastSeq - lookBackEvents);
      const { items } = await client.invoke(eventContracts.list, { after, limit: lookBackEvents });
      for (const event of items) show(event);
      session.print(json ? '' : calls.renderRest());
      if (follow !== true) return;
      const signal = io.signal ?? new AbortController().signal;
      for await (const event of client.events({ after: items.at(-1)?.seq ?? lastSeq, signal })) show(event);
    },
  });

  addCommand(program, {
    name: 'version',
    run: ({ json }) => {
      if (json) session.printJson({ version: session.version, node: process.versions.node });
      else session.print(`hotcell ${session.version}, Node ${process.versions.node}\n`);
    },
  });
}
