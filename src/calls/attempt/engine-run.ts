import type { BorderHost } from '../../border/border.ts';
import type { Limits } from '../../config/limits.ts';
import { noUsage, type RunOutcome, type RunRequest } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { DaemonRun, EngineRunner } from '../../units/unit.ts';
import type { ActiveCall } from '../active-call.ts';
import { type Engines, runnerOf } from '../runner.ts';
import { chooseTimeoutMs } from '../time-limit.ts';

/** Runs one attempt, or goes on with a call of the last run of the daemon. Never rejects: a fault of the runner is told to `onFault` and ends the call as `engine-failed`. */
export async function runAttempt(
  engines: Engines,
  call: ActiveCall,
  host: BorderHost,
  onFault: (error: unknown, executionId: string) => void,
): Promise<RunOutcome> {
  const { suspended } = call;
  const { signal } = call.controller;
  const runner = runnerOf(call);
  if (signal.aborted) return endAs({ code: 'cancelled', message: 'The call was cancelled.' }, 'cancelled');
  try {
    call.suspended = undefined;
    if (runner.by === 'daemon') return await runner.run(describeRun(call), host, signal);
    const engine = engines[runner.engine];
    if (engine === undefined) throw new HotcellError('interrupted', `The engine "${runner.engine}" is not there any more.`);
    const request = describeProgramRun(call, runner);
    if (suspended === undefined) return await engine.run(request, host, signal);
    if (engine.resume === undefined) throw new HotcellError('interrupted', 'The engine of the tool cannot go on with it.');
    return await engine.resume(request, suspended, host, signal);
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'interrupted') return endAs(error);
    onFault(error, call.record.id);
    const message = `The sandbox failed; the log of the daemon says why under ${call.record.id}.`;
    return endAs({ code: 'engine-failed', message });
  }
}

function endAs({ code, message }: Pick<HotcellError, 'code' | 'message'>, status: 'error' | 'cancelled' = 'error'): RunOutcome {
  return { status, error: { code, message, frames: [] }, usage: noUsage };
}

function describeRun(call: ActiveCall): DaemonRun {
  const { record } = call;
  return {
    executionId: record.id,
    handler: call.entry.manifest.handler,
    argumentsJson: record.argumentsJson,
    limits: limitsOf(call),
    deadline: call.deadline,
    caller: record.caller,
    session: record.session,
    holder: { callerId: call.callerId, unitPath: call.unitPath, isAdmin: call.isAdmin },
  };
}

function describeProgramRun(call: ActiveCall, { program, handsOver }: EngineRunner): RunRequest {
  const { isolation } = call.entry.served.unit.manifest;
  return { ...describeRun(call), program, isolation, cellKey: call.cellKey, handOver: handsOver };
}

/** The limits of the tool with the shorter time that the caller asked for, so that an engine names the one that ended the call. */
function limitsOf({ request, tool }: ActiveCall): Limits {
  if (request.timeoutMs === undefined) return tool.limits;
  return { ...tool.limits, wallMs: chooseTimeoutMs(request.timeoutMs, tool.limits.wallMs) };
}
