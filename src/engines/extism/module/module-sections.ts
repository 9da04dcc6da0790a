import { HotcellError } from '../../../errors/hotcell-error.ts';

/** One section of a WebAssembly module; offsets are into the module's bytes. */
export interface ModuleSection {
  readonly id: number;
  /** The name of a custom section. */
  readonly name?: string;
  /** Where the section's id byte stands. */
  readonly start: number;
  /** Where the content begins; of a custom section, after its name. */
  readonly contentStart: number;
  readonly end: number;
}

/** The custom section that a daemon reads a module's manifest from. */
export const sidecarSection = 'hotcell.sidecar';

const magicAndVersion = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const customSectionId = 0;

/** Lists the sections in order. Throws `entry-invalid` for bytes that are no module or whose sizes do not add up. */
export function listSections(module: Uint8Array): ModuleSection[] {
  if (!magicAndVersion.every((byte, index) => module[index] === byte)) {
    throw new HotcellError(
      'entry-invalid',
      'Expected a WebAssembly core module (it starts with 00 61 73 6d 01 00 00 00), and the file starts otherwise.',
      { fix: 'Build a core module; components and text (.wat) are not read.' },
    );
  }
  const sections: ModuleSection[] = [];
  let offset = magicAndVersion.length;
  while (offset < module.length) {
    const id = module[offset] ?? 0;
    const size = readUnsigned(module, offset + 1);
    const end = size.next + size.value;
    if (end > module.length) throw truncated(offset);
    sections.push(describeSection(module, id, { start: offset, contentStart: size.next, end }));
    offset = end;
  }
  return sections;
}

/** Reads an unsigned LEB128 number of at most 32 bits; throws `entry-invalid` where there is none. */
export function readUnsigned(bytes: Uint8Array, offset: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) throw truncated(offset);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) {
      if (value > 0xffffffff) break;
      return { value, next: offset + index + 1 };
    }
  }
  throw new HotcellError('entry-invalid', `Expected a 32-bit number at byte ${offset} of the module, and found a longer one.`);
}

/** Writes an unsigned LEB128 number of at most 32 bits. */
export function writeUnsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** The content of the last custom section with this name, or undefined. */
export function readCustomSection(module: Uint8Array, name: string): Uint8Array | undefined {
  const section = listSections(module).findLast((candidate) => candidate.name === name);
  return section && module.subarray(section.contentStart, section.end);
}

/** The module with a custom section of this name as its last section, in place of any it had. */
export function writeCustomSection(module: Uint8Array, name: string, content: Uint8Array): Uint8Array {
  const nameBytes = new TextEncoder().encode(name);
  const nameLength = writeUnsigned(nameBytes.length);
  const size = nameLength.length + nameBytes.length + content.length;
  const kept = listSections(module)
    .filter((section) => section.name !== name)
    .map((section) => module.subarray(section.start, section.end));
  return joinBytes([
    module.subarray(0, magicAndVersion.length),
    ...kept,
    Uint8Array.from([customSectionId, ...writeUnsigned(size), ...nameLength]),
    nameBytes,
    content,
  ]);
}

/** The module with the content of one section replaced. */
export function replaceSection(module: Uint8Array, section: ModuleSection, content: readonly number[]): Uint8Array {
  return joinBytes([
    module.subarray(0, section.start),
    Uint8Array.from([section.id, ...writeUnsigned(content.length), ...content]),
    module.subarray(section.end),
  ]);
}

function describeSection(module: Uint8Array, id: number, place: Omit<ModuleSection, 'id' | 'name'>): ModuleSection {
  if (id !== customSectionId) return { id, ...place };
  const length = readUnsigned(module, place.contentStart);
  const contentStart = length.next + length.value;
  if (contentStart > place.end) throw truncated(place.start);
  return { id, ...place, contentStart, name: new TextDecoder().decode(module.subarray(length.next, contentStart)) };
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

function truncated(offset: number): HotcellError {
  return new HotcellError('entry-invalid', `The module ends in the middle of the section at byte ${offset}.`, {
    fix: 'Build or copy the file again; it is cut off.',
  });
}

/** The first section of this kind, if there is one. */
export function findSection(module: Uint8Array, id: number): ModuleSection | undefined {
  return listSections(module).find((section) => section.id === id);
}

/** One thing that a module exports, as its section says. */
export interface ModuleExport {
  readonly name: string;
  readonly kind: number;
  readonly index: number;
}

const exportSectionId = 7;

/** The kinds of what a module exports. */
export const exportKinds = { function: 0, memory: 2, global: 3 } as const;

/** What a module exports. Throws `entry-invalid` for bytes that are no module. */
export function listExports(module: Uint8Array): ModuleExport[] {
  const section = findSection(module, exportSectionId);
  if (!section) return [];
  const count = readUnsigned(module, section.contentStart);
  const exports: ModuleExport[] = [];
  let offset = count.next;
  for (let index = 0; index < count.value && offset < section.end; index++) {
    const length = readUnsigned(module, offset);
    const end = length.next + length.value;
    if (end >= section.end) throw truncated(offset);
    const index = readUnsigned(module, end + 1);
    const name = new TextDecoder().decode(module.subarray(length.next, end));
    exports.push({ name, kind: module[end] ?? 0, index: index.value });
    offset = index.next;
  }
  return exports;
}
