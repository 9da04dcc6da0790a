import { describe, expect, it } from 'vitest';
import { limitHostObjects } from '../../../../src/engines/extism/module/module-limits.ts';
import { assemble } from '../wat-program.ts';

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A module of one section. */
function moduleOf(sectionId: number, content: readonly number[]): Uint8Array {
  return Uint8Array.from([...header, sectionId, content.length, ...content]);
}

describe('limitHostObjects', () => {
  it('keeps what an ordinary module has, and still validates', async () => {
    const module = await assemble(
      `(module (type $t (func (param i32 i64 f32 f64 externref funcref) (result i32)))
         (table 3 5 funcref) (table 1 externref)
         (func $f (type $t) (i32.const 0)) (elem (i32.const 0) $f) (export "f" (func $f)))`,
    );
    const limited = limitHostObjects(module);
    expect(WebAssembly.Module.exports(new WebAssembly.Module(limited))).toEqual([{ name: 'f', kind: 'function' }]);
    expect(limitHostObjects(limited)).toEqual(limited);
  });

  it('gives a table without maximum one', () => {
    const limited = limitHostObjects(moduleOf(4, [1, 0x70, 0, 7]));
    expect([...limited.slice(8)]).toEqual([4, 7, 1, 0x70, 1, 7, 0xc0, 0x9a, 0x0c]);
  });

  it('lowers a maximum that is above the bound, and keeps one below it', () => {
    const maximumOf = (maximum: number[]) => [...limitHostObjects(moduleOf(4, [1, 0x70, 1, 7, ...maximum])).slice(14)];
    expect(maximumOf([0x80, 0x80, 0x80, 0x01])).toEqual([0xc0, 0x9a, 0x0c]);
    expect(maximumOf([9])).toEqual([9]);
  });

  it.each([
    ['an array type', 1, [1, 0x5e, 0x7f, 1], /garbage-collection/],
    ['a struct type', 1, [1, 0x5f, 1, 0x7f, 1], /garbage-collection/],
    ['a group of types', 1, [1, 0x4e, 1, 0x60, 0, 0], /garbage-collection/],
    ['a parameter of a reference type', 1, [1, 0x60, 1, 0x6e, 0], /value types/],
    ['a table of a reference type', 4, [1, 0x63, 0x70, 0, 1], /tables of other things/],
    ['a table with an initializer', 4, [1, 0x40, 0, 0x70, 0, 1], /tables of other things/],
    ['a 64-bit table', 4, [1, 0x70, 4, 1], /64-bit/],
    ['a huge table', 4, [1, 0x70, 0, 0x80, 0x80, 0x80, 0x80, 1], /from the start/],
    ['many tables', 4, [17], /17 tables/],
  ])('refuses %s', (_name, sectionId, content, message) => {
    expect(() => limitHostObjects(moduleOf(sectionId, content))).toThrow(message);
  });
});
