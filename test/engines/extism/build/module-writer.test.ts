import { describe, expect, it } from 'vitest';
import { type FrozenState, writeModule } from '../../../../src/engines/extism/build/module-writer.ts';
import { readCustomSection } from '../../../../src/engines/extism/module/module-sections.ts';
import { assemble } from '../wat-program.ts';

const text = (more: { data?: string; global?: string } = {}) => `(module
  (memory (export "memory") 1 2)
  ${more.global ?? '(global $a (export "state.a") (mut i32) (i32.const -5)) (global $b i32 (i32.const 300))'}
  (func (export "entry.0") (result i32) (global.get 0))
  (func (export "entry.1") (result i32)
    (memory.init $image (i32.const 0) (i32.const 0) (i32.const 4)) (i32.load (i32.const 0)))
  (func (export "unused"))
  (data (i32.const 100) "kept out") (data $image ${more.data ?? '"hotcell.image"'}))`;

const state: FrozenState = {
  globals: { 'state.a': -123456 },
  pages: { initial: 3, maximum: 700 },
  image: Uint8Array.of(1, 2, 3, 4),
  entries: new Map([
    ['first', 'entry.0'],
    ['second', 'entry.1'],
  ]),
  customSections: new Map([['made.by', Uint8Array.of(9)]]),
};

function open(module: Uint8Array): Record<string, unknown> {
  return { ...new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(module))).exports };
}

describe('writeModule', () => {
  it('puts memory, globals, exports and data of the state in place of those that were there', async () => {
    const module = writeModule(await assemble(text()), state);
    const { memory, first, second, ...others } = open(module);
    expect(others).toEqual({});
    expect([first, second].map((entry) => (typeof entry === 'function' ? entry() : undefined))).toEqual([-123456, 0x04030201]);
    const { buffer } = Object(memory);
    expect(buffer.byteLength).toBe(3 * 65_536);
    // Nothing is put in place before an entry asks for it.
    expect(new Uint8Array(buffer)[100]).toBe(0);
    expect(readCustomSection(module, 'made.by')).toEqual(Uint8Array.of(9));
  });

  it.each([-1, 0, 63, 64, -64, -65, 127, 128, 2 ** 31 - 1, -(2 ** 31)])('writes %i as a global', async (value) => {
    const { first } = open(writeModule(await assemble(text()), { ...state, globals: { 'state.a': value } }));
    expect(typeof first === 'function' && first()).toBe(value);
  });

  it('writes an image of any size', async () => {
    const image = new Uint8Array(70_000).fill(7);
    const { second } = open(writeModule(await assemble(text()), { ...state, image }));
    expect(typeof second === 'function' && second()).toBe(0x07070707);
  });

  it.each([
    ['no place for the image', text({ data: '"something else"' })],
    [
      'a global of another type',
      text({ global: '(global (export "state.a") (mut i64) (i64.const 1)) (global $r i32 (i32.const 1))' }).replace(
        '(global.get 0)',
        '(i32.const 0)',
      ),
    ],
  ])('does not write over a runtime with %s', async (_what, runtime) => {
    const module = await assemble(runtime);
    expect(() => writeModule(module, state)).toThrow('build it again');
  });

  it('does not write over a runtime without the entries that it needs', async () => {
    const module = await assemble(text());
    expect(() => writeModule(module, { ...state, entries: new Map([['x', 'entry.9']]) })).toThrow('exports no entry.9');
    expect(() => writeModule(module, { ...state, globals: { 'state.z': 1 } })).toThrow('exports no state.z');
  });
});
