import type { Engine, EngineName } from '../engines/engine.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { Runner } from '../units/unit.ts';
import type { ActiveCall } from './active-call.ts';

/** The engines that are there. */
export type Engines = Readonly<Partial<Record<EngineName, Engine>>>;

/** Throws `not-supported` when the engine of a tool is not there. */
export function requireRunner(engines: Engines, { name, served }: ToolEntry): void {
  const { runner } = served.unit;
  if (runner.by === 'daemon' || engines[runner.engine] !== undefined) return;
  throw new HotcellError('not-supported', `The tool "${name}" needs the engine "${runner.engine}", which is not there.`, {
    fix: `Use one of: ${Object.keys(engines).join(', ')}.`,
  });
}

/** Who runs the next attempt of a call. */
export function runnerOf({ escalated, entry }: ActiveCall): Runner {
  return (escalated?.unit ?? entry.served.unit).runner;
}

/** The engine that runs the next attempt of a call; undefined when the daemon does it itself. */
export function engineOf(engines: Engines, call: ActiveCall): Engine | undefined {
  const runner = runnerOf(call);
  return runner.by === 'daemon' ? undefined : engines[runner.engine];
}
