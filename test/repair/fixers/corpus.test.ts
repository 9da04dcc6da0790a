import { afterAll, beforeAll, expect, it } from 'vitest';
import { listBrokenPlugins } from '../../../bench/repair/broken-plugins.ts';
import { breakPlugins, type Repair, readBehaviours, repairOne } from '../../../bench/repair/measure-repairs.ts';
import { modelMadePlugins } from '../../../bench/repair/model-made.ts';
import { openWorkbench } from '../../../bench/repair/workbench.ts';
import { sharedTypes } from '../../shared-builds.ts';

let bench: Awaited<ReturnType<typeof openWorkbench>>;
beforeAll(async () => {
  bench = await openWorkbench({ ...sharedTypes });
}, 120_000);
afterAll(() => bench.close());

it('mends most plugins that do not build, and is wrong about none of which it is sure', async () => {
  const behavioursOf = await readBehaviours(bench);
  const plugins = listBrokenPlugins(behavioursOf).filter(({ isHeldOut }) => !isHeldOut);
  for await (const plugin of breakPlugins(bench, behavioursOf, { seed: 3, count: 4, isHeldOut: false })) plugins.push(plugin);
  const repairs: Repair[] = [];
  for (const plugin of plugins) repairs.push(await repairOne(bench, plugin));
  const unbuilt = repairs.filter(({ failure }) => /^(?:does-not|manifest)/.test(failure.class));
  expect(unbuilt.length).toBeGreaterThan(30);
  expect(unbuilt.filter(({ outcome }) => outcome === 'mended').length / unbuilt.length).toBeGreaterThan(0.6);
  const wrong = repairs.filter(({ outcome, sureness }) => outcome === 'wrong' && sureness === 'sure');
  expect(wrong.map(({ plugin }) => plugin.name)).toEqual([]);
}, 300_000);

it('mends most of what models hand over, and is wrong about none of which it is sure', async () => {
  const repairs: Repair[] = [];
  for (const plugin of modelMadePlugins) repairs.push(await repairOne(bench, plugin));
  expect(repairs.filter(({ outcome }) => outcome === 'mended').length).toBeGreaterThanOrEqual(18);
  const wrong = repairs.filter(({ outcome, sureness }) => outcome === 'wrong' && sureness === 'sure');
  expect(wrong.map(({ plugin }) => plugin.name)).toEqual([]);
}, 300_000);
