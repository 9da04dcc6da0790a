import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { defaultLimits } from '../../../src/config/limits.ts';
import { type BaseImage, buildBaseImage, countPages } from '../../../src/engines/quickjs/cell/base-image.ts';
import { Cell } from '../../../src/engines/quickjs/cell/cell.ts';
import { applyDelta, encodeDelta, restoreReference } from '../../../src/engines/quickjs/cell/delta.ts';
import { compileQuickJs, createInstanceMaker, type Instance } from '../../../src/engines/quickjs/cell/instance.ts';
import { bundlePrelude } from '../../../src/guests/prelude.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

const EMPTY_PRELUDE =
  'globalThis.__hotcellEntry = { load() {}, enter() {}, settle() {}, runHook() {}, endCall() {}, trackRejection() {} };';
const MAX_PRELUDE_PAGES = 150;

let makeInstance: () => Promise<Instance>;
let base: BaseImage;
let cells: CellEngine;
beforeAll(async () => {
  makeInstance = await createInstanceMaker(compileQuickJs());
  base = await buildBaseImage(makeInstance, (await bundlePrelude()).code);
  cells = await startCellEngine();
});
afterAll(() => cells.close());

describe('buildBaseImage', () => {
  it(`adds at most ${MAX_PRELUDE_PAGES} pages to an empty context`, async () => {
    const empty = await buildBaseImage(makeInstance, EMPTY_PRELUDE);
    const pages = countPages(base.reference) - countPages(empty.reference);
    expect(pages).toBeGreaterThan(20);
    expect(pages).toBeLessThanOrEqual(MAX_PRELUDE_PAGES);
  });

  it('makes the same image wherever the program lies, and in every language', async () => {
    const { argv } = process;
    const { language } = navigator;
    const prelude = (await bundlePrelude()).code;
    onTestFinished(() => {
      process.argv = argv;
      Object.defineProperty(navigator, 'language', { value: language, configurable: true });
    });
    process.argv = [argv[0] ?? '', '/a/path/much/longer/than/that/of/the/program/of/this/test/hotcell.js'];
    Object.defineProperty(navigator, 'language', { value: 'zh-Hant-TW', configurable: true });
    const elsewhere = await buildBaseImage(await createInstanceMaker(compileQuickJs()), prelude);
    expect(elsewhere.header).toEqual(base.header);
    expect(elsewhere.reference.bytes.equals(base.reference.bytes)).toBe(true);
    expect(base.reference.bytes.includes(argv[1] ?? '')).toBe(false);
  });

  it('leaves the guest no way to its one import and entry points', async () => {
    const program = await cells.load(
      '{ handler: () => [typeof host, typeof __hotcellEntry, typeof __hotcellExports, Object.keys(globalThis)] }',
    );
    expect(outputOf(await cells.call(program))).toEqual(['undefined', 'undefined', 'undefined', []]);
  });
});

describe('encodeDelta and applyDelta', () => {
  it('move a changed memory to another instance', async () => {
    const handlers = { host: () => undefined, interrupt: () => false };
    const [one, other] = [await makeInstance(), await makeInstance()];
    const cell = new Cell(one, base, handlers);
    cell.restore(base.reference);
    expect(cell.evaluate('globalThis.kept = { list: Array.from({ length: 5000 }, (_, n) => n * 3) };', 'a.js')).toBeUndefined();
    const delta = cell.encodeDelta(base.reference);
    const moved = new Cell(other, base, handlers);
    moved.restore(base.reference);
    moved.applyDelta(delta);
    expect(
      moved.evaluate('if (kept.list.reduce((sum, n) => sum + n, 0) !== 37492500) throw new Error("lost");', 'b.js'),
    ).toBeUndefined();
    expect(moved.encodeDelta(base.reference).length).toBeGreaterThan(1000);
  });

  it('restore every byte that a sandbox can see', async () => {
    const instance = await makeInstance();
    const cell = new Cell(instance, base, { host: () => undefined, interrupt: () => false });
    cell.restore(base.reference);
    cell.evaluate('globalThis.big = new Uint8Array(3e6).fill(7); Array.prototype.evil = 1;', 'dirty.js');
    cell.restore(base.reference);
    expect(encodeDelta(instance.memory, instance, base.reference, base.reference.top).length).toBe(8);
    expect(instance.memory.subarray(base.reference.top, base.reference.top + 4e6).every((byte) => byte === 0)).toBe(true);
    restoreReference(instance.memory, instance, base.reference, base.reference.top);
  });

  it('refuse a delta that reaches outside of the memory', () => {
    const broken = Buffer.alloc(24);
    broken.writeUInt32LE(100, 0);
    broken.writeUInt32LE(1, 4);
    broken.writeUInt32LE(0xfffffff0, 8);
    broken.writeUInt32LE(64, 12);
    expect(() => applyDelta(Buffer.alloc(4096), broken)).toThrow(RangeError);
  });
});

describe('images on disk', () => {
  it('are built again when they were made over another base or are damaged', async () => {
    const code = 'globalThis.__hotcellExports = { default: { handler: () => "built" } };';
    const saved: Uint8Array[] = [];
    const readImage = async () => Buffer.alloc(4000, 1);
    const program = {
      key: 'damaged',
      label: 'damaged',
      readCode: async () => code,
      readImage,
      saveImage: (image: Uint8Array) => void saved.push(image),
    };
    expect(outputOf(await cells.call(program))).toBe('built');
    expect(saved).toHaveLength(1);
  });

  it('are read when the first call needs them: what was loaded and is never called takes no memory', async () => {
    const code = 'globalThis.__hotcellExports = { default: { handler: () => "loaded" } };';
    const loaded = await cells.engine.load({ key: 'lazy', label: 'lazy', code, limits: defaultLimits });
    if (!loaded.ok) throw new Error(loaded.error.message);
    let reads = 0;
    const program = {
      key: loaded.programKey ?? '',
      label: 'lazy',
      readCode: () => Promise.reject(new Error('the image holds all')),
      readImage: async () => {
        reads += 1;
        return loaded.image;
      },
      saveImage: () => {},
    };
    for (let call = 0; call < 2; call++) expect(outputOf(await cells.call(program))).toBe('loaded');
    expect(reads).toBe(1);
  });

  it('are there again for a program that was given up and is called at once, whether its threads were told or not', async () => {
    const programs = await Promise.all(Array.from({ length: 12 }, (_, n) => cells.load(`{ handler: () => ${n} }`)));
    const callAll = async () => Promise.all(programs.map(async (program) => outputOf(await cells.call(program))));
    const wanted = programs.map((_, n) => n);
    expect(await callAll()).toEqual(wanted);
    for (const { key } of programs) cells.engine.discard({ programKey: key });
    expect(await callAll()).toEqual(wanted);
    for (const { key } of programs.slice(0, 3)) cells.engine.discard({ programKey: key });
    expect(await callAll()).toEqual(wanted);
    for (const { key } of programs.slice(0, 3)) cells.engine.discard({ programKey: key });
    expect(await callAll()).toEqual(wanted);
  });
});
