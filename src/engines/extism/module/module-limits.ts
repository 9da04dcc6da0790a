import { HotcellError } from '../../../errors/hotcell-error.ts';
import { findSection, readUnsigned, replaceSection, writeUnsigned } from './module-sections.ts';

/** The size of one page of WebAssembly memory, in bytes. */
export const pageBytes = 65_536;

const sectionIds = { type: 1, table: 4, memory: 5 };
const hasMaximum = 1;
const mebibyte = 1024 * 1024;
const functionForm = 0x60;
const maxTables = 16;
const maxElements = 200_000;
const referenceTypes: ReadonlySet<number> = new Set([0x70, 0x6f]);
// i32, i64, f32, f64, v128, funcref, externref.
const valueTypes: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);

/**
 * The module with the maximum of its memory lowered to `maxBytes`. The SDK has no limit of its own, and a module
 * without one may grow to 4 GiB, so the limit is written into the module before it is compiled.
 * Throws `memory-exceeded` when the module wants more from the start, `not-supported` for shared, 64-bit or second memories.
 */
export function limitMemory(module: Uint8Array, maxBytes: number): Uint8Array {
  const maxPages = Math.max(1, Math.floor(maxBytes / pageBytes));
  const section = findSection(module, sectionIds.memory);
  if (!section) return module;
  const count = readUnsigned(module, section.contentStart);
  if (count.value === 0) return module;
  if (count.value > 1) throw refuseMemory(`${count.value} memories`, 'one memory');
  const flags = readUnsigned(module, count.next);
  if (flags.value > hasMaximum)
    throw refuseMemory(`a memory with flags ${flags.value} (shared or 64-bit)`, 'a plain 32-bit memory');
  const minimum = readUnsigned(module, flags.next);
  if (minimum.value > maxPages) {
    const [wanted, allowed] = [minimum.value, maxPages].map((pages) => (pages * pageBytes) / mebibyte);
    const message = `The module wants ${wanted} MiB of memory from the start; the limit is ${allowed} MiB.`;
    throw new HotcellError('memory-exceeded', message, {
      fix: 'Link it with a smaller initial memory, or raise limits.memoryBytes in the sidecar.',
    });
  }
  const declared = flags.value === hasMaximum ? readUnsigned(module, minimum.next).value : maxPages;
  const pages = [...writeUnsigned(minimum.value), ...writeUnsigned(Math.min(declared, maxPages))];
  return replaceSection(module, section, [1, hasMaximum, ...pages]);
}

/**
 * The module with bounded tables, and only if it has no garbage-collected types. Tables, structs and arrays live on the
 * JavaScript heap of the worker, and a heap that is full ends the whole process, not only the worker.
 * Throws `not-supported` or `memory-exceeded`.
 */
export function limitHostObjects(module: Uint8Array): Uint8Array {
  checkTypes(module);
  return limitTables(module);
}

function checkTypes(module: Uint8Array): void {
  const section = findSection(module, sectionIds.type);
  if (!section) return;
  const count = readUnsigned(module, section.contentStart);
  let offset = count.next;
  for (let index = 0; index < count.value; index++) {
    if (module[offset] !== functionForm) throw unsupported('types of the garbage-collection proposal');
    offset = skipValueTypes(module, skipValueTypes(module, offset + 1));
  }
}

/** Skips a list of value types; returns where it ends. */
function skipValueTypes(module: Uint8Array, offset: number): number {
  const count = readUnsigned(module, offset);
  const end = count.next + count.value;
  const types = module.subarray(count.next, end);
  if (!types.every((type) => valueTypes.has(type)))
    throw unsupported('value types beyond numbers, vectors, funcref and externref');
  return end;
}

function limitTables(module: Uint8Array): Uint8Array {
  const section = findSection(module, sectionIds.table);
  if (!section) return module;
  const count = readUnsigned(module, section.contentStart);
  if (count.value > maxTables) throw unsupported(`${count.value} tables; at most ${maxTables} are run`);
  const content = writeUnsigned(count.value);
  const share = Math.floor(maxElements / Math.max(1, count.value));
  let offset = count.next;
  for (let index = 0; index < count.value; index++) {
    const type = module[offset] ?? 0;
    if (!referenceTypes.has(type)) throw unsupported('tables of other things than funcref and externref');
    const flags = readUnsigned(module, offset + 1);
    if (flags.value > hasMaximum) throw unsupported('64-bit or shared tables');
    const minimum = readUnsigned(module, flags.next);
    if (minimum.value > share) {
      const message = `The module wants a table of ${minimum.value} elements from the start; the limit is ${share}.`;
      throw new HotcellError('memory-exceeded', message);
    }
    const maximum = flags.value === hasMaximum ? readUnsigned(module, minimum.next) : { value: share, next: minimum.next };
    content.push(type, hasMaximum, ...writeUnsigned(minimum.value), ...writeUnsigned(Math.min(maximum.value, share)));
    offset = maximum.next;
  }
  return replaceSection(module, section, content);
}

function refuseMemory(found: string, expected: string): HotcellError {
  return new HotcellError('not-supported', `The module declares ${found}; expected ${expected}.`, {
    fix: 'Build the module for plain wasm32 without threads.',
  });
}

function unsupported(found: string): HotcellError {
  return new HotcellError('not-supported', `The module has ${found}, which is not run here.`, {
    fix: 'Build the module for plain wasm32 with an Extism PDK.',
  });
}
