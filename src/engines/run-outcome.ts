import type { BorderHost } from '../border/border.ts';
import type { Limits } from '../config/limits.ts';
import { maxOutputDepth, nestsDeeper } from '../config/read/json-nesting.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { GuestError, LoadResult } from './engine.ts';
import type { EndReason } from './run-end.ts';

/** A call that failed, before what it used is added. */
export interface FailedRun {
  readonly status: 'error' | 'timeout' | 'cancelled';
  readonly error: GuestError;
}

/** How a call ended, before what it used is added. */
export type RunEnding = { readonly status: 'success'; readonly output: unknown; readonly outputJson: string } | FailedRun;

/** Exports hold schemas, which may nest deeper than an output. */
const maxExportedDepth = 200;

/** A failure of which nothing is known but what the sentence says. */
export function failRun(code: ErrorCode, message: string, status: FailedRun['status'] = 'error'): FailedRun {
  return { status, error: { code, message, frames: [] } };
}

/** A call that was ended from outside, or passed a limit: in the same words on every engine. */
export function describeStop(reason: EndReason | 'cpu' | 'memory', { wallMs, cpuMs, memoryBytes }: Limits): FailedRun {
  switch (reason) {
    case 'cancelled':
      return failRun('cancelled', 'The call was cancelled.', 'cancelled');
    case 'deadline':
      return failRun('time-exceeded', `The call did not end within ${wallMs} ms.`, 'timeout');
    case 'cpu':
      return failRun('time-exceeded', `The call used more than its ${cpuMs} ms of processor time.`, 'timeout');
    case 'memory':
      return failRun('memory-exceeded', `The call used more than its ${memoryBytes} bytes of memory (limits.memoryBytes).`);
  }
}

/** Reads what a handler returned as JSON text: nothing that comes from a guest is believed. */
export function readReturned(text: string): RunEnding {
  if (nestsDeeper(text, maxOutputDepth)) return refuseDeepOutput();
  try {
    return { status: 'success', output: JSON.parse(text), outputJson: text };
  } catch {
    return failRun('output-invalid', 'The output is not JSON.');
  }
}

/** Readers of JSON bear no more. */
export function refuseDeepOutput(): FailedRun {
  return failRun('output-invalid', `The output nests deeper than ${maxOutputDepth} levels.`);
}

/** Reads what a plugin exports, as JSON text of its guest. */
export function readExported(text: string): LoadResult {
  if (nestsDeeper(text, maxExportedDepth)) return failLoad('load-failed', 'What the plugin exports nests too deeply.');
  try {
    return { ok: true, exported: JSON.parse(text), warnings: [] };
  } catch {
    return failLoad('load-failed', 'What the plugin exports could not be read as data.');
  }
}

/** A load that failed. */
export function failLoad(code: ErrorCode, message: string): LoadResult {
  return { ok: false, error: { code, message, frames: [] } };
}

/** Tells a call that returned for which operations of the host it did not wait. */
export function noteAbandoned(host: Pick<BorderHost, 'log'>, operations: Iterable<string>): void {
  const named = [...new Set(operations)].slice(0, 5).map((op) => `context.${op.slice(0, 80)}`);
  if (named.length === 0) return;
  const text = `The handler returned before these host calls were done, so they may not have happened: ${named.join(', ')}. Await them.`;
  host.log({ level: 'warn', text, atMs: Date.now() });
}
