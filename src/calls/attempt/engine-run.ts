import type { BorderHost } from '../../border/border.ts';
import type { Limits } from '../../config/limits.ts';
import type { Engine, EngineName, RunOutcome, RunRequest } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';
import type { ActiveCall } from '../active-call.ts';
import { chooseTimeoutMs } from './deadline.ts';

/** The engines that are there. */
export type Engines = Readonly<Partial<Record<EngineName, Engine>>>;

const noUsage = { cpuMs: 0, hostCalls: 0, logLines: 0 };

/** The engine of a tool; throws `not-supported` when it is not there. */
export function findEngine(engines: Engines, entry: ToolEntry): Engine {
  const { manifest, engine: own } = entry.published;
  const name = manifest.engine;
  const engine = own ?? engines[name];
  if (engine !== undefined) return engine;
  throw new HotcellError('not-supported', `The tool "${entry.name}" needs the engine "${name}", which is not there.`, {
    fix: `Use one of: ${Object.keys(engines).join(', ')}.`,
  });
}

/** The engine that runs the next attempt of a call. */
export function engineOf(engines: Engines, call: ActiveCall): Engine {
  return call.climbed?.engine ?? findEngine(engines, call.entry);
}

/** Runs one attempt, or goes on with a call of the last run of the daemon. Never rejects: a fault of the engine is told to `onFault` and ends the call as `engine-failed`. */
export async function runInEngine(
  engine: Engine,
  call: ActiveCall,
  host: BorderHost,
  onFault: (error: unknown, executionId: string) => void,
): Promise<RunOutcome> {
  const { suspended } = call;
  const { signal } = call.controller;
  try {
    if (suspended === undefined) return await engine.run(describeRun(call), host, signal);
    call.suspended = undefined;
    if (engine.resume === undefined) throw new HotcellError('interrupted', 'The engine of the tool cannot go on with it.');
    return await engine.resume(describeRun(call), suspended, host, signal);
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'interrupted') return endAs(error);
    onFault(error, call.record.id);
    const message = `The sandbox failed; the log of the daemon says why under ${call.record.id}.`;
    return endAs({ code: 'engine-failed', message });
  }
}

function endAs({ code, message }: Pick<HotcellError, 'code' | 'message'>): RunOutcome {
  return { status: 'error', error: { code, message, frames: [] }, usage: noUsage };
}

function describeRun(call: ActiveCall): RunRequest {
  const { record, entry } = call;
  const { generation, manifest } = entry.published;
  return {
    executionId: record.id,
    program: (call.climbed?.generation ?? generation).program,
    handler: entry.manifest.handler,
    argumentsJson: record.argumentsJson,
    isolation: manifest.isolation,
    cellKey: call.cellKey,
    limits: limitsOf(call),
    deadline: call.deadline,
    caller: record.caller,
    session: record.session,
    holder: { callerId: call.callerId, pluginPath: call.pluginPath, isOperator: call.isOperator },
    handOver: manifest.hooks.onReload,
  };
}

/** The limits of the tool with the shorter time that the caller asked for, so that an engine names the one that ended the call. */
function limitsOf({ request, tool }: ActiveCall): Limits {
  if (request.timeoutMs === undefined) return tool.limits;
  return { ...tool.limits, wallMs: chooseTimeoutMs(request.timeoutMs, tool.limits.wallMs) };
}
