/**
 * Differences of a cell's memory to a reference, in lines of 64 bytes: the form of images on disk, of parked calls and
 * of cells between calls. A line is the smallest unit because a call writes scattered words all over its pages.
 */

const LINE_BYTES = 64;
const PAGE_BYTES = 4096;
const WORDS_PER_LINE = LINE_BYTES / 4;
const HEADER_BYTES = 8;
const RUN_BYTES = 8;

/** Where the parts of a memory lie: static data is `[0, dataEnd)`, the heap `[heapStart, top)`. */
export interface MemoryLayout {
  readonly dataEnd: number;
  readonly heapStart: number;
}

/** A frozen memory without the empty C stack: static data followed by the heap up to `top`. */
export interface Reference {
  readonly bytes: Buffer;
  /** First address after the heap. */
  readonly top: number;
}

/** Copies the meaningful parts of a memory out. */
export function copyReference(memory: Buffer, layout: MemoryLayout, top: number): Reference {
  const bytes = Buffer.allocUnsafeSlow(alignUp(layout.dataEnd) + alignUp(top - layout.heapStart));
  bytes.fill(0);
  memory.copy(bytes, 0, 0, layout.dataEnd);
  memory.copy(bytes, alignUp(layout.dataEnd), layout.heapStart, top);
  return { bytes, top };
}

/** Puts a memory back to a reference; `dirtyTop` is the first heap address that may never have been touched. */
export function restoreReference(memory: Buffer, layout: MemoryLayout, reference: Reference, dirtyTop: number): void {
  const heapOffset = alignUp(layout.dataEnd);
  reference.bytes.copy(memory, 0, 0, layout.dataEnd);
  reference.bytes.copy(memory, layout.heapStart, heapOffset, heapOffset + reference.top - layout.heapStart);
  if (dirtyTop > reference.top) memory.fill(0, reference.top, dirtyTop);
}

/**
 * Encodes how `memory`, whose heap ends at `top`, differs from `reference`.
 * Layout: u32 top, u32 number of runs, per run u32 address and u32 length, then the bytes of the runs.
 */
export function encodeDelta(memory: Buffer, layout: MemoryLayout, reference: Reference, top: number): Uint8Array {
  const runs: number[] = [];
  const heapOffset = alignUp(layout.dataEnd);
  collectRuns(memory, 0, layout.dataEnd, reference.bytes, 0, runs);
  const common = Math.min(top, reference.top);
  collectRuns(memory, layout.heapStart, common, reference.bytes, heapOffset, runs);
  if (top > reference.top) pushRun(runs, reference.top, top - reference.top);
  let bytes = 0;
  for (let index = 1; index < runs.length; index += 2) bytes += runs[index] ?? 0;
  const count = runs.length / 2;
  const delta = Buffer.from(new ArrayBuffer(HEADER_BYTES + count * RUN_BYTES + bytes));
  delta.writeUInt32LE(top, 0);
  delta.writeUInt32LE(count, 4);
  let at = HEADER_BYTES;
  let data = HEADER_BYTES + count * RUN_BYTES;
  for (let index = 0; index < runs.length; index += 2) {
    const address = runs[index] ?? 0;
    const length = runs[index + 1] ?? 0;
    delta.writeUInt32LE(address, at);
    delta.writeUInt32LE(length, at + 4);
    at += RUN_BYTES;
    memory.copy(delta, data, address, address + length);
    data += length;
  }
  return delta;
}

/** Applies a delta to a memory that equals its reference; returns the heap's new top. Throws RangeError on a broken delta. */
export function applyDelta(memory: Buffer, delta: Uint8Array): number {
  const source = Buffer.from(delta.buffer, delta.byteOffset, delta.byteLength);
  const top = source.readUInt32LE(0);
  const count = source.readUInt32LE(4);
  if (top > memory.length) throw new RangeError('delta is out of bounds');
  let data = HEADER_BYTES + count * RUN_BYTES;
  for (let index = 0; index < count; index++) {
    const address = source.readUInt32LE(HEADER_BYTES + index * RUN_BYTES);
    const length = source.readUInt32LE(HEADER_BYTES + index * RUN_BYTES + 4);
    if (address + length > memory.length || data + length > source.length) throw new RangeError('delta is out of bounds');
    source.copy(memory, address, data, data + length);
    data += length;
  }
  return top;
}

/** Finds differing lines between `[start, end)` of memory and the reference at `offset`, as address/length pairs. */
function collectRuns(memory: Buffer, start: number, end: number, reference: Buffer, offset: number, runs: number[]): void {
  const words = new Int32Array(memory.buffer, memory.byteOffset);
  const expected = new Int32Array(reference.buffer, reference.byteOffset, reference.length >> 2);
  for (let page = start; page < end; page += PAGE_BYTES) {
    const pageEnd = Math.min(page + PAGE_BYTES, end);
    const at = offset + page - start;
    if (memory.compare(reference, at, at + pageEnd - page, page, pageEnd) === 0) continue;
    for (let line = page; line < pageEnd; line += LINE_BYTES) {
      const first = line >> 2;
      const other = (offset + line - start) >> 2;
      for (let word = 0; word < WORDS_PER_LINE; word++) {
        if (words[first + word] === expected[other + word]) continue;
        pushRun(runs, line, Math.min(LINE_BYTES, end - line));
        break;
      }
    }
  }
}

/** Joins runs with at most one equal line between them: a run's header costs nearly as much. */
function pushRun(runs: number[], address: number, length: number): void {
  const last = runs.length - 2;
  const lastAddress = runs[last];
  const lastLength = runs[last + 1];
  if (
    lastAddress !== undefined &&
    lastLength !== undefined &&
    address - (lastAddress + lastLength) <= LINE_BYTES &&
    address >= lastAddress
  ) {
    const gapEnd = address + length;
    // The C stack between data and heap is never part of a run.
    if (gapEnd - lastAddress <= lastLength + LINE_BYTES + length) {
      runs[last + 1] = gapEnd - lastAddress;
      return;
    }
  }
  runs.push(address, length);
}

function alignUp(bytes: number): number {
  return (bytes + LINE_BYTES - 1) & ~(LINE_BYTES - 1);
}
