import type { BorderHost } from '../../border/border.ts';
import type { Limits } from '../../config/limits.ts';
import { watchDeadline } from '../../engines/deadline.ts';
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
    if (suspended === undefined) {
      const prepared = await prepareRun(call, runner, host);
      return 'status' in prepared ? prepared : await engine.run(prepared, host, signal);
    }
    const request = describeProgramRun(call, runner);
    if (engine.resume === undefined) throw new HotcellError('interrupted', 'The engine of the tool cannot go on with it.');
    return await engine.resume(request, suspended, host, signal);
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'interrupted') return endAs(error);
    onFault(error, call.record.id);
    const message = `The sandbox failed; the log of the daemon says why under ${call.record.id}.`;
    return endAs({ code: 'engine-failed', message });
  }
}

/** What the engine is to run, or the end of a call that must not begin. Rejects on a fault of the daemon. */
async function prepareRun(call: ActiveCall, runner: EngineRunner, host: BorderHost): Promise<RunRequest | RunOutcome> {
  const request = describeProgramRun(call, runner);
  if (runner.prepare === undefined) return request;
  const { signal } = call.controller;
  const ending = new AbortController();
  const endWatch = watchDeadline(call.deadline, () => ending.abort());
  // Nothing is computed here meanwhile: other calls may have its slot.
  host.waiting?.(true);
  try {
    const argumentsJson = await runner.prepare(request, host.user?.(), AbortSignal.any([signal, ending.signal]));
    return { ...request, argumentsJson };
  } catch (error) {
    if (signal.aborted) return endAs({ code: 'cancelled', message: 'The call was cancelled.' }, 'cancelled');
    if (ending.signal.aborted) {
      return endAs({ code: 'time-exceeded', message: `The call did not end within ${request.limits.wallMs} ms.` }, 'timeout');
    }
    if (!(error instanceof HotcellError)) throw error;
    return endAs(error, error.code === 'time-exceeded' ? 'timeout' : 'error');
  } finally {
    endWatch();
    host.waiting?.(false);
  }
}

function endAs(
  { code, message }: Pick<HotcellError, 'code' | 'message'>,
  status: 'error' | 'timeout' | 'cancelled' = 'error',
): RunOutcome {
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
