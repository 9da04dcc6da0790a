import {
  exportKinds,
  findSection,
  listExports,
  listSections,
  type ModuleExport,
  type ModuleSection,
  readUnsigned,
  writeCustomSection,
  writeUnsigned,
} from '../module/module-sections.ts';

/** What a frozen plugin changes in the runtime. */
export interface FrozenState {
  /** Values of the exported globals of the runtime, by name. */
  readonly globals: Readonly<Record<string, number>>;
  /** The memory in pages: what the module begins with, and may have at most. */
  readonly pages: { readonly initial: number; readonly maximum: number };
  /** What every call begins with, from the end of the stack on. */
  readonly image: Uint8Array;
  /** Which entry of the runtime each exported name is. */
  readonly entries: ReadonlyMap<string, string>;
  readonly customSections: ReadonlyMap<string, Uint8Array>;
}

const sectionIds = { custom: 0, memory: 5, global: 6, export: 7, data: 11 };
const i32 = 0x7f;
const i32Const = 0x41;
const endOfCode = 0x0b;
const passiveSegment = 1;
const imageMarker = new TextEncoder().encode('hotcell.image');

/** The runtime with the memory, globals, exports and data of a frozen plugin. Pure. */
export function writeModule(runtime: Uint8Array, state: FrozenState): Uint8Array {
  const exports = listExports(runtime);
  const replaced = new Map<number, Uint8Array>([
    [sectionIds.memory, Uint8Array.from([1, 1, ...writeUnsigned(state.pages.initial), ...writeUnsigned(state.pages.maximum)])],
    [sectionIds.global, writeGlobals(runtime, exports, state.globals)],
    [sectionIds.export, writeExports(exports, state.entries)],
    [sectionIds.data, writeData(runtime, state.image)],
  ]);
  const parts: Uint8Array[] = [runtime.subarray(0, 8)];
  for (const section of listSections(runtime)) {
    if (section.id === sectionIds.custom) continue;
    const content = replaced.get(section.id) ?? runtime.subarray(section.contentStart, section.end);
    parts.push(Uint8Array.from([section.id, ...writeUnsigned(content.length)]), content);
  }
  let module: Uint8Array = Buffer.concat(parts);
  for (const [name, content] of state.customSections) module = writeCustomSection(module, name, content);
  return module;
}

function requireSection(module: Uint8Array, id: number): ModuleSection {
  const section = findSection(module, id);
  if (!section) throw new Error(`The runtime has no section ${id}: build it again.`);
  return section;
}

/** All globals are 32-bit numbers; those that are named get new values. */
function writeGlobals(module: Uint8Array, exports: readonly ModuleExport[], values: FrozenState['globals']): Uint8Array {
  const valueByIndex = new Map(
    Object.entries(values).map(([name, value]) => [findExport(exports, name, exportKinds.global).index, value] as const),
  );
  const count = readUnsigned(module, requireSection(module, sectionIds.global).contentStart);
  const content = writeUnsigned(count.value);
  let offset = count.next;
  for (let index = 0; index < count.value; index++) {
    const constantStart = offset + 3;
    const end = skipNumber(module, constantStart);
    if (module[offset] !== i32 || module[offset + 2] !== i32Const || module[end] !== endOfCode) {
      throw new Error('A global of the runtime is not a 32-bit constant: build it again.');
    }
    const value = valueByIndex.get(index);
    const constant = value === undefined ? module.subarray(constantStart, end) : writeSigned(value);
    content.push(i32, module[offset + 1] ?? 0, i32Const, ...constant, endOfCode);
    offset = end + 1;
  }
  return Uint8Array.from(content);
}

function writeExports(exports: readonly ModuleExport[], entries: FrozenState['entries']): Uint8Array {
  const kept = [
    { ...findExport(exports, 'memory', exportKinds.memory) },
    ...[...entries].map(([name, entry]) => ({ ...findExport(exports, entry, exportKinds.function), name })),
  ];
  const content = writeUnsigned(kept.length);
  for (const { name, kind, index } of kept) {
    const bytes = new TextEncoder().encode(name);
    content.push(...writeUnsigned(bytes.length), ...bytes, kind, ...writeUnsigned(index));
  }
  return Uint8Array.from(content);
}

function findExport(exports: readonly ModuleExport[], name: string, kind: number): ModuleExport {
  const found = exports.find((each) => each.name === name && each.kind === kind);
  if (!found) throw new Error(`The runtime exports no ${name}: build it again.`);
  return found;
}

/** The code refers to segments by number, so all stay, empty but for the image: nothing is put in place when a module starts. */
function writeData(module: Uint8Array, image: Uint8Array): Uint8Array {
  const { contentStart: start, end } = requireSection(module, sectionIds.data);
  const count = readUnsigned(module, start);
  const parts: Uint8Array[] = [Uint8Array.from(writeUnsigned(count.value))];
  let offset = count.next;
  let images = 0;
  for (let index = 0; index < count.value; index++) {
    const flag = readUnsigned(module, offset);
    const sizeAt = flag.value === passiveSegment ? flag.next : skipNumber(module, flag.next + 1) + 1;
    const size = readUnsigned(module, sizeAt);
    const isImage = flag.value === passiveSegment && isMarker(module.subarray(size.next, size.next + size.value));
    if (isImage) images += 1;
    parts.push(Uint8Array.from([passiveSegment, ...writeUnsigned(isImage ? image.length : 0)]));
    if (isImage) parts.push(image);
    offset = size.next + size.value;
  }
  if (images !== 1 || offset !== end) throw new Error('The runtime has no place for an image: build it again.');
  return Buffer.concat(parts);
}

function isMarker(bytes: Uint8Array): boolean {
  return bytes.length === imageMarker.length && imageMarker.every((byte, index) => bytes[index] === byte);
}

/** Where a number in LEB128, signed or not, ends. */
function skipNumber(module: Uint8Array, offset: number): number {
  let at = offset;
  while (((module[at] ?? 0) & 0x80) !== 0) at++;
  return at + 1;
}

function writeSigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}
