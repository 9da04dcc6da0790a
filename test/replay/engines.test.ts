import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { type EngineHouse, openEngineHouse } from '../promises/engines/engine-house.ts';
import { type Part, presentParts } from '../promises/engines/subjects.ts';

const plugin = (engine: string) => `
export default {
  name: 'counts_${engine}', description: 'counts', engine: '${engine}', permissions: { kv: true },
  handler: async ({ step = 1 }, { kv, config }) => {
    const before = (await kv.get('count')) ?? 0;
    const [, all] = await Promise.all([kv.set('count', before + step), kv.list()]);
    return { before, all: all.items.length, unit: config.get('unit') };
  },
};`;
const guest = (engine: string, needs?: Part) => ({
  title: engine,
  plugin: `counts_${engine}`,
  ...(needs === undefined ? {} : { needs }),
  files: async () => ({ [`counts_${engine}.js`]: plugin(engine) }),
});
const guests = presentParts([guest('quickjs'), guest('deno', 'deno'), guest('docker', 'docker')], ({ title }) => title);
let world: EngineHouse;

beforeAll(async () => {
  world = await openEngineHouse({ subjects: guests });
}, 60_000);
afterAll(() => world.close());

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
});
