import type { Command } from 'commander';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { daemonContracts, type Finding } from '../../../operations/contracts/daemon.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Style } from '../../render/style.ts';
import type { CliSession } from '../../session.ts';
import { addCommand, type CommonFlags, withDaemon } from '../command.ts';

/** Adds `hotcell doctor`: what the machine lacks, asked of the daemon or, without one, of this process. */
export function registerDoctor(program: Command, session: CliSession): void {
  addCommand(program, {
    name: 'doctor',
    run: async ({ json, ...flags }) => {
      const report = await examine(session, flags);
      if (!report.ok) session.exitCode = exitCodes.failed;
      if (json) session.printJson(report);
      else for (const finding of report.items) session.print(renderFinding(finding, session.style));
    },
  });
}

async function examine(session: CliSession, flags: CommonFlags): Promise<{ ok: boolean; items: Finding[]; total: number }> {
  try {
    return await withDaemon(session, flags, (client) => client.invoke(daemonContracts.doctor, {}));
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'daemon-unreachable') throw error;
    const { runDoctor } = await import('../../../operations/doctor/run-doctor.ts');
    return runDoctor({ config: await session.readConfig(flags), isServing: false });
  }
}

function renderFinding({ name, status, message, fix }: Finding, style: Style): string {
  const mark = { ok: style.green('✓'), info: style.dim('·'), warn: style.yellow('!'), fail: style.red('✗') }[status];
  const advice = fix === undefined ? '' : `  ${style.green('Fix:')} ${fix}\n`;
  return `${mark} ${name.padEnd(15)} ${message}\n${advice}`;
}
