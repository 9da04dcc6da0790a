import { HotcellError } from '../../../errors/hotcell-error.ts';
import { listSections, readUnsigned, replaceSection, writeUnsigned } from './module-sections.ts';

/** The size of one page of WebAssembly memory, in bytes. */
export const pageBytes = 65_536;

const memorySectionId = 5;
const hasMaximum = 1;
const mebibyte = 1024 * 1024;

/**
 * The module with the maximum of its memory lowered to `maxBytes`. The SDK has no limit of its own, and a module
 * without one may grow to 4 GiB, so the limit is written into the module before it is compiled.
 * Throws `memory-exceeded` when the module wants more from the start, `not-supported` for shared, 64-bit or second memories.
 */
export function limitMemory(module: Uint8Array, maxBytes: number): Uint8Array {
  const maxPages = Math.max(1, Math.floor(maxBytes / pageBytes));
  const section = listSections(module).find((candidate) => candidate.id === memorySectionId);
  if (!section) return module;
  const count = readUnsigned(module, section.contentStart);
  if (count.value === 0) return module;
  if (count.value > 1) throw unsupported(`${count.value} memories`, 'one memory');
  const flags = readUnsigned(module, count.next);
  if (flags.value > hasMaximum)
    throw unsupported(`a memory with flags ${flags.value} (shared or 64-bit)`, 'a plain 32-bit memory');
  const minimum = readUnsigned(module, flags.next);
  if (minimum.value > maxPages) throw tooLarge(minimum.value, maxPages);
  const declared = flags.value === hasMaximum ? readUnsigned(module, minimum.next).value : maxPages;
  return replaceSection(module, section, [
    1,
    hasMaximum,
    ...writeUnsigned(minimum.value),
    ...writeUnsigned(Math.min(declared, maxPages)),
  ]);
}

function unsupported(found: string, expected: string): HotcellError {
  return new HotcellError('not-supported', `The module declares ${found}; expected ${expected}.`, {
    fix: 'Build the module for plain wasm32 without threads.',
  });
}

function tooLarge(minimumPages: number, maxPages: number): HotcellError {
  const wanted = (minimumPages * pageBytes) / mebibyte;
  const allowed = (maxPages * pageBytes) / mebibyte;
  return new HotcellError(
    'memory-exceeded',
    `The module wants ${wanted} MiB of memory from the start; the limit is ${allowed} MiB.`,
    {
      fix: 'Link it with a smaller initial memory, or raise limits.memoryBytes in the sidecar.',
    },
  );
}
