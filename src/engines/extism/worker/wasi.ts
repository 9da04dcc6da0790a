import type { CallState } from './call-state.ts';
import { GuestFault } from './guest-fault.ts';

// Error numbers of WASI preview 1.
const success = 0;
const badFile = 8;
const fault = 21;
const invalid = 28;
const notSupported = 52;
const characterDevice = 2;
const nanosecondsPerMs = 1_000_000n;
const maxRandomBytes = 65_536;

type WasiFunction = (...args: unknown[]) => number;

/**
 * The functions with these names, of the part of WASI preview 1 that a tool needs: clocks, randomness, and standard output, which
 * goes to the log. There are no files, arguments, environment or sockets, and every other name answers "not supported", since
 * modules import far more than they call. Node's own WASI is not used:
 * its `proc_raise` sends signals to the daemon and its `poll_oneoff` blocks a thread beyond the reach of terminate().
 */
export function createWasi(
  names: readonly string[],
  readMemory: () => ArrayBuffer | undefined,
  state: () => CallState,
): Record<string, WasiFunction> {
  const view = (): DataView => {
    const buffer = readMemory();
    if (!buffer) throw new RangeError('memory is not there yet');
    return new DataView(buffer);
  };
  const writeTwoZeros: WasiFunction = (count, size) => {
    const memory = view();
    memory.setUint32(pointer(count), 0, true);
    memory.setUint32(pointer(size), 0, true);
    return success;
  };
  const known = new Map<string, WasiFunction>(
    Object.entries({
      args_sizes_get: writeTwoZeros,
      args_get: () => success,
      environ_sizes_get: writeTwoZeros,
      environ_get: () => success,
      clock_res_get: (_clock, at) => writeBig(view(), at, nanosecondsPerMs),
      clock_time_get: (clock, _precision, at) => writeBig(view(), at, state().readClock(clock === 0)),
      random_get: (at, length) => fillRandom(view(), pointer(at), pointer(length), state),
      sched_yield: () => success,
      fd_close: (file) => (isStandard(file) ? success : badFile),
      fd_fdstat_get: (file, at) => writeFileStatus(view(), file, at),
      fd_read: (file, _vectors, _count, at) => writeSize(view(), file === 0, at, 0),
      fd_write: (file, vectors, count, at) => writeOutput(view(), { file, vectors, count, at }, state()),
      fd_prestat_get: () => badFile,
      fd_prestat_dir_name: () => badFile,
      proc_exit: (code) => {
        throw new GuestFault('handler-threw', `The module ended its process with code ${String(code)}.`);
      },
    }),
  );
  return Object.fromEntries(names.map((name) => [name, guard(known.get(name) ?? (() => notSupported))]));
}

function guard(call: WasiFunction): WasiFunction {
  return (_context, ...args) => {
    try {
      return call(...args);
    } catch (error) {
      // A pointer outside of memory is the guest's fault, told in WASI's way.
      if (error instanceof RangeError) return fault;
      throw error;
    }
  };
}

function pointer(value: unknown): number {
  // Guests pass i32, which arrives signed.
  return Number(value) >>> 0;
}

function isStandard(file: unknown): boolean {
  return file === 0 || file === 1 || file === 2;
}

function writeBig(memory: DataView, at: unknown, value: bigint): number {
  memory.setBigUint64(pointer(at), value, true);
  return success;
}

function writeSize(memory: DataView, isOpen: boolean, at: unknown, size: number): number {
  if (!isOpen) return badFile;
  memory.setUint32(pointer(at), size, true);
  return success;
}

function fillRandom(memory: DataView, at: number, length: number, state: () => CallState): number {
  if (length > maxRandomBytes) return invalid;
  const bytes = new Uint8Array(memory.buffer, at, length);
  bytes.set(state().drawBytes(length));
  return success;
}

function writeFileStatus(memory: DataView, file: unknown, at: unknown): number {
  if (!isStandard(file)) return badFile;
  new Uint8Array(memory.buffer, pointer(at), 24).fill(0);
  memory.setUint8(pointer(at), characterDevice);
  return success;
}

interface WriteRequest {
  readonly file: unknown;
  readonly vectors: unknown;
  readonly count: unknown;
  readonly at: unknown;
}

function writeOutput(memory: DataView, request: WriteRequest, state: CallState): number {
  if (request.file !== 1 && request.file !== 2) return badFile;
  const count = pointer(request.count);
  if (count > 1024) return invalid;
  let written = 0;
  for (let index = 0; index < count; index++) {
    const vector = pointer(request.vectors) + index * 8;
    const bytes = new Uint8Array(memory.buffer, memory.getUint32(vector, true), memory.getUint32(vector + 4, true));
    written += bytes.length;
    if (bytes.length > 0) state.log(request.file === 1 ? 'info' : 'warn', bytes);
  }
  return writeSize(memory, true, request.at, written);
}
