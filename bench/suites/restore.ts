import { buildBaseImage, countPages } from '../../src/engines/quickjs/cell/base-image.ts';
import { Cell } from '../../src/engines/quickjs/cell/cell.ts';
import { compileQuickJs, createInstanceMaker } from '../../src/engines/quickjs/cell/instance.ts';
import { createHostAnswers } from '../../src/engines/quickjs/host-answers/host-answers.ts';
import { bundlePrelude } from '../../src/guests/prelude.ts';
import { type Row, summarise } from '../measure.ts';

const ROUNDS = 3000;
const prelude = await bundlePrelude();
const makeInstance = await createInstanceMaker(compileQuickJs());
const base = await buildBaseImage(makeInstance, prelude.code);
const answer = createHostAnswers({ lazyModules: prelude.lazyModules });
const cell = new Cell(await makeInstance(), base, {
  host: (op, _id, readPayload, readBody) => answer(op, readPayload(), readBody()),
  interrupt: () => false,
});
cell.restore(base.reference);

const rows: Row[] = [];
for (const dirtyKiB of [0, 64, 256, 1024]) {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    if (dirtyKiB > 0) cell.evaluate(`globalThis.dirt = new Uint8Array(${dirtyKiB * 1024}).fill(1)`, 'dirt.js');
    const start = performance.now();
    cell.restore(base.reference);
    samples.push((performance.now() - start) * 1000);
  }
  const { p50, p99 } = summarise(samples);
  const bound = 20 + 0.015 * dirtyKiB;
  rows.push({
    name: `restore of a cell, ${dirtyKiB} KiB dirtied`,
    unit: 'µs',
    p50,
    p99,
    target: `<= ${bound.toFixed(1)} µs`,
    met: p50 <= bound,
  });
}
const EMPTY = 'globalThis.__hotcellEntry = { load() {}, enter() {}, settle() {}, runHook() {}, endCall() {} };';
const empty = await buildBaseImage(makeInstance, EMPTY);
const pages = countPages(base.reference) - countPages(empty.reference);
rows.push({
  name: 'pages that the prelude adds to an empty context, web API included',
  unit: 'pages',
  p50: pages,
  target: '<= 150',
  met: pages <= 150,
});
process.stdout.write(`${JSON.stringify(rows)}\n`);
