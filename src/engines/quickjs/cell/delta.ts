import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';

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
  const runs = findRuns(memory, layout, reference, top);
  let bytes = HEADER_BYTES + runs.length * 4;
  for (let index = 1; index < runs.length; index += 2) bytes += runs[index] ?? 0;
  const delta = Buffer.from(new ArrayBuffer(bytes));
  let data = writeHead(delta, runs, top);
  for (let index = 0; index < runs.length; index += 2) {
    const address = runs[index] ?? 0;
    const length = runs[index + 1] ?? 0;
    memory.copy(delta, data, address, address + length);
    data += length;
  }
  return delta;
}

/** Writes the same to a new file, straight out of the memory; returns its size. Throws what the file system throws. */
export function storeDelta(memory: Buffer, layout: MemoryLayout, reference: Reference, top: number, path: string): number {
  const runs = findRuns(memory, layout, reference, top);
  const head = Buffer.alloc(HEADER_BYTES + runs.length * 4);
  writeHead(head, runs, top);
  const file = openSync(path, 'wx', 0o600);
  try {
    writeAll(file, head);
    let bytes = head.length;
    for (let index = 0; index < runs.length; index += 2) {
      const address = runs[index] ?? 0;
      const length = runs[index + 1] ?? 0;
      writeAll(file, memory.subarray(address, address + length));
      bytes += length;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** Reads a stored delta into a memory that equals its reference, and deletes the file; returns the heap's new top. */
export function takeStoredDelta(memory: Buffer, path: string): number {
  const file = openSync(path, 'r');
  try {
    const head = readExactly(file, Buffer.alloc(HEADER_BYTES));
    const top = head.readUInt32LE(0);
    const table = readExactly(file, Buffer.alloc(head.readUInt32LE(4) * RUN_BYTES));
    if (top > memory.length) throw new RangeError('delta is out of bounds');
    for (let at = 0; at < table.length; at += RUN_BYTES) {
      const address = table.readUInt32LE(at);
      const end = address + table.readUInt32LE(at + 4);
      if (end > memory.length) throw new RangeError('delta is out of bounds');
      readExactly(file, memory.subarray(address, end));
    }
    return top;
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function readExactly(file: number, bytes: Buffer): Buffer {
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(file, bytes, at, bytes.length - at, null);
    if (count === 0) throw new RangeError('delta is out of bounds');
    at += count;
  }
  return bytes;
}

/** Writes what comes before the bytes of the runs; returns its length. */
function writeHead(head: Buffer, runs: readonly number[], top: number): number {
  head.writeUInt32LE(top, 0);
  head.writeUInt32LE(runs.length / 2, 4);
  for (const [index, value] of runs.entries()) head.writeUInt32LE(value, HEADER_BYTES + index * 4);
  return HEADER_BYTES + runs.length * 4;
}

/** Where a memory differs from its reference, as address/length pairs. */
function findRuns(memory: Buffer, layout: MemoryLayout, reference: Reference, top: number): number[] {
  const runs: number[] = [];
  const heapOffset = alignUp(layout.dataEnd);
  collectRuns(memory, 0, layout.dataEnd, reference.bytes, 0, runs);
  const common = Math.min(top, reference.top);
  collectRuns(memory, layout.heapStart, common, reference.bytes, heapOffset, runs);
  if (top > reference.top) pushRun(runs, reference.top, top - reference.top);
  return runs;
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
