import type { BorderHost } from '../../border/border.ts';
import { watchDeadline } from '../../engines/deadline.ts';
import type { RunOutcome } from '../../engines/engine.ts';
import { type ErrorCode, errorCatalog } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { DaemonRun, DaemonRunner } from '../../units/unit.ts';
import type { HostedTool } from './hosted-types.ts';
import { createOutputLog } from './output-log.ts';

/**
 * Who runs tools that the daemon carries out itself: the same journey, limits and records as for any other, without a guest.
 * `find` is asked as a call starts, so that what was taken back in the meantime does not run.
 */
export function createDaemonRunner(find: (tool: string) => Pick<HostedTool, 'run'> | undefined): DaemonRunner {
  return { by: 'daemon', run: (request, host, signal) => runHosted(find(request.handler), request, host, signal) };
}

async function runHosted(
  tool: Pick<HostedTool, 'run'> | undefined,
  request: DaemonRun,
  host: BorderHost,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const user = host.user?.();
  const startedAtMs = Date.now();
  const ending = new AbortController();
  const endWatch = watchDeadline(request.deadline, () => ending.abort());
  const log = createOutputLog((line) => host.log(line), request.limits);
  const end = () => ({
    usage: { cpuMs: 0, hostCalls: 0, logLines: log.lines },
    // There is no guest to run again; the recording keeps the log of the call.
    recording: { seed: '', startedAtMs, crossings: [], complete: false },
  });
  const fail = (status: 'error' | 'timeout' | 'cancelled', code: ErrorCode, message: string, fix?: string): RunOutcome => ({
    status,
    error: { code, message, frames: [], ...(fix !== undefined && { fix }) },
    ...end(),
  });
  if (tool === undefined || user === undefined) {
    endWatch();
    return fail('error', 'plugin-not-ready', 'The tool was taken back before the call could begin.');
  }
  // The tool waits for others and computes nothing here: other calls may have its slot.
  host.waiting?.(true);
  try {
    const call = {
      user,
      signal: AbortSignal.any([signal, ending.signal]),
      onOutput: log.add,
      onProgress: host.progress.bind(host),
    };
    const output: unknown = await tool.run(JSON.parse(request.argumentsJson), call);
    log.end();
    const outputJson = JSON.stringify(output) ?? 'null';
    const { outputBytes } = request.limits;
    if (Buffer.byteLength(outputJson) > outputBytes) {
      return fail('error', 'output-exceeded', `The output has more than the ${outputBytes} bytes that are allowed.`);
    }
    return { status: 'success', output: output ?? null, outputJson, ...end() };
  } catch (error) {
    log.end();
    if (signal.aborted) return fail('cancelled', 'cancelled', 'The call was cancelled.');
    if (ending.signal.aborted) {
      return fail('timeout', 'time-exceeded', `The call did not end within ${request.limits.wallMs} ms.`);
    }
    if (!(error instanceof HotcellError)) throw error;
    const status = error.code === 'time-exceeded' ? 'timeout' : error.code === 'cancelled' ? 'cancelled' : 'error';
    return fail(status, error.code, sayWithFix(error), error.fix);
  } finally {
    endWatch();
  }
}

/** Plugins that call the tool hear the sentence alone; what the catalog says of a code stands beside it everywhere. */
function sayWithFix({ code, fix, message }: HotcellError): string {
  return message.includes(fix) || fix === errorCatalog[code].fix
    ? message
    : `${/[.!?…]$/.test(message) ? message : `${message}.`} ${fix}`;
}
