/**
 * QuickJS tells of promises that are rejected without a handler to a C function of its runtime. This build exports no way to set
 * one, so the module is given one more place in its table of functions, and the runtime's own field names that place.
 */

/** Told as `(context, promise, reason, isHandled, opaque)`; the two values are the engine's own 64-bit words. */
export type RejectionTracker = (context: number, promise: bigint, reason: bigint, isHandled: number, opaque: number) => void;

/** The name under which the table is exported. */
const tableExport = 'hotcellTable';
const tableSection = 4;
const exportSection = 7;
/** The handler of interrupts, its opaque word, then the tracker: the order of the fields in JSRuntime. */
const trackerAfterInterrupt = 8;
const runtimeBytes = 1024;

/** A module whose only export is its import, so that the engine can call it by its type. */
const trackerModule = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x09, 0x01, 0x60, 0x05, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0x00],
  ...[0x02, 0x07, 0x01, 0x01, 0x68, 0x01, 0x74, 0x00, 0x00],
  ...[0x07, 0x05, 0x01, 0x01, 0x74, 0x00, 0x00],
);
let compiledTracker: WebAssembly.Module | undefined;

/** The module with its table exported, and one free place at its end. */
export function openTable(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [module.subarray(0, 8)];
  for (let at = 8; at < module.length; ) {
    const id = module[at] ?? 0;
    const [size, start] = readNumber(module, at + 1);
    const content = module.subarray(start, start + size);
    const changed = id === tableSection ? widenTable(content) : id === exportSection ? exportTable(content) : undefined;
    parts.push(changed ? Uint8Array.of(id, ...writeNumber(changed.length), ...changed) : module.subarray(at, start + size));
    at = start + size;
  }
  return Uint8Array.from(Buffer.concat(parts));
}

/** Puts a tracker into the free place of an instance; returns the number of that place. */
export function placeTracker(exports: WebAssembly.Instance['exports'], tracker: RejectionTracker): number {
  const table = exports[tableExport];
  if (!(table instanceof WebAssembly.Table)) throw new Error('this build of QuickJS has no table of functions');
  compiledTracker ??= new WebAssembly.Module(trackerModule);
  const place = table.length - 1;
  table.set(place, new WebAssembly.Instance(compiledTracker, { h: { t: tracker } }).exports.t);
  return place;
}

/** Finds the field of the tracker: `enableInterrupts` sets the field that stands before it. */
export function findTrackerField(memory: Buffer, runtime: number, enableInterrupts: () => void): number {
  const before = Buffer.from(memory.subarray(runtime, runtime + runtimeBytes));
  enableInterrupts();
  for (let offset = 0; offset < runtimeBytes; offset += 4) {
    if (before.readUInt32LE(offset) === 0 && memory.readUInt32LE(runtime + offset) !== 0)
      return runtime + offset + trackerAfterInterrupt;
  }
  throw new Error('the field of the interrupt handler was not found');
}

/** One table with its limits: a least size, and here the same as the largest. */
function widenTable(content: Uint8Array): number[] {
  const [count, type, flags = 0] = content;
  if (count !== 1) throw new Error('this build of QuickJS has more than one table');
  const [least, next] = readNumber(content, 3);
  const largest = flags === 1 ? readNumber(content, next)[0] : undefined;
  return [1, type ?? 0, flags, ...writeNumber(least + 1), ...(largest === undefined ? [] : writeNumber(largest + 1))];
}

function exportTable(content: Uint8Array): number[] {
  const [count, start] = readNumber(content, 0);
  const name = Buffer.from(tableExport);
  return [...writeNumber(count + 1), ...content.subarray(start), name.length, ...name, 0x01, 0x00];
}

/** LEB128. */
function readNumber(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let next = at, shift = 0; ; next++, shift += 7) {
    const byte = bytes[next] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value, next + 1];
  }
}

function writeNumber(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeNumber(value >>> 7)];
}
