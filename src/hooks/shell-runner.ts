import type { BorderHost } from '../border/border.ts';
import type { RunCommand } from '../border/container-command.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { watchDeadline } from '../engines/deadline.ts';
import type { GuestError } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { DaemonRun, DaemonRunner } from '../units/unit.ts';
import type { HookFile } from './hook-types.ts';

/** A shell script as it was approved. */
export interface ShellScript {
  readonly files: readonly HookFile[];
  readonly handler: string;
  readonly image: string;
  /** The script asked for hosts: it gets a way to the network, by which the daemon dials for it. */
  readonly mayDial: boolean;
}

type Ended =
  | { readonly status: 'success'; readonly output: unknown }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

/** The exit code by which a script says no; its standard error is the reason. */
const vetoExitCode = 2;
const maxLineChars = 2000;
const maxLines = 100;

/**
 * Runs the scripts of hooks, each run in a container of its own: the event as JSON on standard input, its name as the first
 * argument, the files of the hook in the working folder. A JSON object on standard output is the answer.
 */
export function createShellRunner(run: RunCommand, maxOutputBytes: number): (script: ShellScript) => DaemonRunner {
  async function runScript(script: ShellScript, request: DaemonRun, host: BorderHost, signal: AbortSignal): Promise<Ended> {
    const { executionId, argumentsJson, deadline, limits } = request;
    const dial = host.dial?.bind(host);
    host.waiting?.(true);
    const result = await run(
      {
        id: executionId,
        holder: request.holder,
        image: script.image,
        command: 'sh',
        args: [script.handler, nameEvent(argumentsJson)],
        env: host.view().env,
        stdin: Buffer.from(argumentsJson),
        files: script.files,
        timeoutMs: Math.max(1, Math.floor(deadline.leftMs())),
        maxOutputBytes: Math.min(limits.outputBytes, maxOutputBytes),
        ...(script.mayDial && dial !== undefined ? { dial } : {}),
      },
      signal,
    );
    const stdout = Buffer.from(result.stdout).toString('utf8').trim();
    const stderr = Buffer.from(result.stderr).toString('utf8').trim();
    const isAnswer = stdout.startsWith('{');
    for (const text of [...(isAnswer ? [] : splitLines(stdout)), ...splitLines(stderr)]) {
      host.log({ level: 'info', text, atMs: Date.now() });
    }
    if (result.exitCode === vetoExitCode) return { status: 'success', output: { veto: stderr } };
    if (result.exitCode === 0) return { status: 'success', output: isAnswer ? readAnswer(stdout, script.handler) : null };
    const last = splitLines(stderr).at(-1);
    const said = last === undefined ? '' : ` Its last words: ${last}`;
    return fail('error', 'handler-threw', `${script.handler} ended with exit code ${result.exitCode}.${said}`);
  }

  async function tryScript(
    script: ShellScript,
    request: DaemonRun,
    host: BorderHost,
    { signal, late }: { readonly signal: AbortSignal; readonly late: AbortSignal },
  ): Promise<Ended> {
    try {
      return await runScript(script, request, host, AbortSignal.any([signal, late]));
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      if (signal.aborted) return fail('cancelled', 'cancelled', 'The call was cancelled.');
      const isLate = late.aborted || error.code === 'time-exceeded';
      if (isLate) return fail('timeout', 'time-exceeded', `${script.handler} did not end within ${request.limits.wallMs} ms.`);
      return fail('error', error.code, error.message);
    }
  }

  return (script) => ({
    by: 'daemon',
    async run(request, host, signal) {
      const startedAtMs = Date.now();
      const late = new AbortController();
      const endWatch = watchDeadline(request.deadline, () => late.abort());
      const ended = await tryScript(script, request, host, { signal, late: late.signal });
      endWatch();
      const recording = { seed: '', startedAtMs, crossings: [], complete: false };
      return { ...ended, usage: { cpuMs: 0, hostCalls: 0, logLines: 0 }, recording };
    },
  });
}

function fail(status: 'error' | 'timeout' | 'cancelled', code: ErrorCode, message: string): Ended {
  return { status, error: { code, message, frames: [] } };
}

function readAnswer(stdout: string, handler: string): unknown {
  if (nestsDeeper(stdout, maxInputDepth)) {
    throw new HotcellError('output-invalid', `${handler} wrote JSON that is of no use. ${nestsTooDeep}`);
  }
  try {
    return JSON.parse(stdout);
  } catch {
    throw new HotcellError(
      'output-invalid',
      `${handler} wrote what begins like JSON and is none; write one JSON object or plain lines.`,
    );
  }
}

function nameEvent(argumentsJson: string): string {
  const event: unknown = JSON.parse(argumentsJson);
  return typeof event === 'object' && event !== null && 'event' in event && typeof event.event === 'string' ? event.event : '';
}

function splitLines(text: string): string[] {
  const lines = text === '' ? [] : text.split('\n').slice(0, maxLines);
  return lines.map((line) => line.slice(0, maxLineChars));
}
