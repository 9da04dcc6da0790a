import { describe, expect, it } from 'vitest';
import { limitMemory } from '../../../../src/engines/extism/module/module-limits.ts';
import {
  listSections,
  readCustomSection,
  readUnsigned,
  writeCustomSection,
  writeUnsigned,
} from '../../../../src/engines/extism/module/module-sections.ts';
import { assemble } from '../wat-program.ts';

const text = new TextEncoder();

function growTo(module: Uint8Array): number {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module));
  const { memory } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError('no memory');
  let pages = memory.buffer.byteLength / 65_536;
  try {
    for (; pages < 1000; pages++) memory.grow(1);
  } catch {
    return pages;
  }
  return pages;
}

describe('limitMemory', () => {
  it('gives a memory without maximum the limit', async () => {
    const module = await assemble('(module (memory (export "memory") 1) (func (export "f")))');
    expect(growTo(limitMemory(module, 20 * 65_536))).toBe(20);
  });

  it('lowers a maximum above the limit and keeps one below it', async () => {
    const high = await assemble('(module (memory (export "memory") 1 500))');
    const low = await assemble('(module (memory (export "memory") 1 3))');
    expect(growTo(limitMemory(high, 200 * 65_536))).toBe(200);
    expect(growTo(limitMemory(low, 200 * 65_536))).toBe(3);
  });

  it('leaves a module without memory as it is', async () => {
    const module = await assemble('(module (func (export "f")))');
    expect(limitMemory(module, 65_536)).toBe(module);
  });

  it('refuses a larger minimum, shared and 64-bit memories', async () => {
    const large = await assemble('(module (memory 17))');
    const shared = await assemble('(module (memory 1 2 shared))');
    const wide = await assemble('(module (memory i64 1))');
    expect(() => limitMemory(large, 16 * 65_536)).toThrow(/wants 1\.0625 MiB .* limit is 1 MiB/);
    expect(() => limitMemory(shared, 16 * 65_536)).toThrow(/flags 3/);
    expect(() => limitMemory(wide, 16 * 65_536)).toThrow(/flags 4/);
  });
});

describe('writeCustomSection', () => {
  it('is read back, and replaces what had the same name', async () => {
    const module = await assemble('(module (func (export "f")))');
    const once = writeCustomSection(module, 'note', text.encode('one'));
    const twice = writeCustomSection(once, 'note', text.encode('two'));
    expect(new TextDecoder().decode(readCustomSection(twice, 'note'))).toBe('two');
    expect(listSections(twice).filter((section) => section.name === 'note')).toHaveLength(1);
    expect(readCustomSection(twice, 'other')).toBeUndefined();
    expect(() => new WebAssembly.Module(twice)).not.toThrow();
  });
});

describe('listSections', () => {
  it('refuses what is no module', () => {
    expect(() => listSections(text.encode('hello'))).toThrow(/WebAssembly core module/);
    expect(() => listSections(new Uint8Array())).toThrow(/WebAssembly core module/);
  });

  it('refuses every cut of a module or reads it without going past its end', async () => {
    const module = writeCustomSection(await assemble('(module (memory 1) (func (export "f")))'), 'n', text.encode('x'));
    for (let length = 0; length < module.length; length++) {
      const cut = module.slice(0, length);
      try {
        expect(listSections(cut).every((section) => section.end <= length)).toBe(true);
      } catch (error) {
        expect(error).toMatchObject({ code: 'entry-invalid' });
      }
    }
  });
});

describe('readUnsigned', () => {
  it('reads what writeUnsigned wrote', () => {
    for (const value of [0, 1, 127, 128, 16_384, 2 ** 31, 2 ** 32 - 1]) {
      const bytes = Uint8Array.from(writeUnsigned(value));
      expect(readUnsigned(bytes, 0)).toEqual({ value, next: bytes.length });
    }
  });

  it('refuses numbers beyond 32 bits', () => {
    expect(() => readUnsigned(Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x01]), 0)).toThrow(/32-bit/);
    expect(() => readUnsigned(Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x7f]), 0)).toThrow(/32-bit/);
  });
});
