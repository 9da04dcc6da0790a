import { type ErrorCode, isErrorCode } from '../../../errors/catalog.ts';
import type { GuestError, StackFrame } from '../../engine.ts';
import { toGuestError } from '../../guest-errors.ts';
import type { ThrowReport } from '../../throw-report.ts';

const maxMessageLength = 4000;
const maxFrames = 20;
// The SDK's own wording in front of what the guest passed to error_set.
const sdkPrefix = 'Plugin-originated error: ';
// "at name (wasm://wasm/0badc0de:wasm-function[7]:0x1a3)", or without the name and brackets.
const wasmFrame = /^\s+at (?:(.*) \()?wasm:\/\/[^\s)]*:wasm-function\[(\d+)\]:0x([0-9a-f]+)\)?$/;

/** A refusal that a host function throws into the guest; it ends the call under this code. */
export class GuestFault extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'GuestFault';
    this.code = code;
  }

  /** What the daemon refused; a code that is none of the catalog's reads as a failure of the handler. */
  static fromRefusal(refusal: { readonly code: string; readonly message: string }): GuestFault {
    return new GuestFault(isErrorCode(refusal.code) ? refusal.code : 'handler-threw', refusal.message);
  }
}

/**
 * What a failed call says in facts: a fault of a host function, an error that the guest set, or a trap. `thrown` is what a built
 * module said of the error that it set.
 */
export function explainFailure(
  thrown: unknown,
  facts: { readonly memoryIsFull: boolean; readonly thrown: ThrowReport | undefined },
): GuestError {
  if (thrown instanceof GuestFault) return { code: thrown.code, message: bound(thrown.message), frames: readFrames(thrown) };
  if (!(thrown instanceof Error))
    return { code: 'handler-threw', message: 'The module threw an exception of its own.', frames: [] };
  const frames = readFrames(thrown);
  if (thrown.message.startsWith(sdkPrefix)) {
    if (facts.thrown) return toGuestError(facts.thrown, 'handler-threw');
    return { code: 'handler-threw', message: bound(thrown.message.slice(sdkPrefix.length)), frames };
  }
  if (thrown instanceof RangeError && thrown.message.includes('call stack')) {
    return { code: 'stack-exceeded', message: 'The module recursed deeper than its stack allows.', name: 'RangeError', frames };
  }
  if (facts.memoryIsFull) {
    return {
      code: 'memory-exceeded',
      message: `The module trapped with its memory at the limit: ${bound(thrown.message)}.`,
      frames,
    };
  }
  return { code: 'handler-threw', message: `The module trapped: ${bound(thrown.message)}.`, name: thrown.name, frames };
}

/** Frames inside the module; `line` is 1 and `column` the byte offset, as browsers show positions in modules. */
function readFrames(error: Error): StackFrame[] {
  const frames: StackFrame[] = [];
  for (const line of (error.stack ?? '').split('\n')) {
    const match = wasmFrame.exec(line);
    if (!match) continue;
    const functionName = (match[1] ?? `function ${match[2]}`).slice(0, 200);
    frames.push({ functionName, file: 'module.wasm', line: 1, column: Number.parseInt(match[3] ?? '0', 16) + 1 });
    if (frames.length === maxFrames) break;
  }
  return frames;
}

function bound(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
