import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { buildText, moduleOf } from '../engines/extism/build/build-fixture.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type EngineHouse, openEngineHouse } from '../promises/engines/engine-house.ts';
import { type Part, presentParts, type Subject } from '../promises/engines/subjects.ts';

const plugin = (engine: string) => `
export default {
  name: 'counts_${engine}', description: 'counts', engine: '${engine}', permissions: { kv: true },
  handler: async ({ step = 1 }, { kv, config }) => {
    const before = (await kv.get('count')) ?? 0;
    const [, all] = await Promise.all([kv.set('count', before + step), kv.list()]);
    return { before, all: all.items.length, unit: config.get('unit') };
  },
};`;
type Guest = Pick<Subject, 'title' | 'plugin' | 'needs' | 'files'>;
const guest = (engine: string, needs?: Part): Guest => ({
  title: engine,
  plugin: `counts_${engine}`,
  ...(needs === undefined ? {} : { needs }),
  files: async () => ({ [`counts_${engine}.js`]: plugin(engine) }),
});
/** The module of a text; without `engine` it is the text of the sandbox. */
const moduleFrom = async (text: string) => moduleOf(await buildText('counts_extism.ts', text.replace("engine: 'extism', ", '')));
const built: Guest = {
  title: 'extism',
  plugin: 'counts_extism',
  files: async () => ({ 'counts_extism.wasm': await moduleFrom(plugin('extism')) }),
};
const guests = presentParts([guest('quickjs'), built, guest('deno', 'deno'), guest('docker', 'docker')], ({ title }) => title);
/** It asks for another key, and writes nothing. */
const changed = (engine: string) =>
  plugin(engine).replace("kv.get('count')", "kv.get('total')").replace("kv.set('count', before + step)", 'null');
let world: EngineHouse;

beforeAll(async () => {
  world = await openEngineHouse({ subjects: guests });
}, 60_000);
afterAll(() => world.close());

/** Saves another module: a module has no text, so that its candidates are generations. */
async function saveModule(text: string): Promise<{ readonly generation: string }> {
  const { client } = world.house;
  writeFileSync(join(world.folder, 'plugins', 'counts_extism.wasm'), await moduleFrom(text));
  const { items } = await until(async () => {
    const kept = await client.invoke(pluginContracts.generations, { name: 'counts_extism' });
    return kept.items.length > 1 && kept;
  }, 'the other module');
  return { generation: String(Math.max(...items.map(({ number }) => number))) };
}

describe.each(guests.map(({ title }) => title))('a replay on %s', (engine) => {
  it('answers from the recording alone', { timeout: 120_000 }, async () => {
    const { call, client } = world.house;
    await client.invoke(grantContracts.create, { plugin: `counts_${engine}`, permissions: { kv: true } });
    const first = await call(`counts_${engine}`, { step: 2 });
    expect(first).toMatchObject({ output: { before: 0 } });
    expect(await call(`counts_${engine}`, {})).toMatchObject({ output: { before: 2 } });
    for (let round = 0; round < 3; round++) {
      const report = await client.invoke(executionContracts.replay, { id: first.executionId });
      expect(report).toMatchObject({ same: true, asked: [], engine });
    }
    expect(await call(`counts_${engine}`, {})).toMatchObject({ output: { before: 3 } });
  });

  it('says what a candidate asks that was not recorded, and does nothing of it', { timeout: 120_000 }, async () => {
    const { call, client } = world.house;
    const { executionId: id } = await call(`counts_${engine}`, { step: 0 });
    const { output } = await call(`counts_${engine}`, { step: 0 });
    const candidate = engine === 'extism' ? await saveModule(changed(engine)) : { text: changed(engine) };
    const report = await client.invoke(executionContracts.replay, { id, ...candidate });
    expect(report).toMatchObject({ isSameCode: false, same: false, engine });
    expect(report.difference).toContain('permission-denied');
    expect(report.asked[0]).toBe('It asks kv.get {"key":"total"}, which was not recorded; it was refused.');
    expect(report.asked.slice(1).join()).toContain('It does not ask kv.set {"key":"count"');
    if (engine !== 'extism') expect(await call(`counts_${engine}`, { step: 0 })).toMatchObject({ output });
  });
});
