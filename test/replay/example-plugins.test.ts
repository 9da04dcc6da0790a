import { afterAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { startExampleDaemon } from '../example-daemon.ts';

/** `npm run test:long replays` takes 1000. */
const count = Number(process.env.HOTCELL_REPLAYS ?? 60);
const operator: Caller = { id: 'local', role: 'admin' };
const daemon = await startExampleDaemon({ grantRequested: true, keepRecordingsPerTool: count });
const { replays, executions, store } = daemon.parts;

afterAll(() => daemon.close());

const examples = daemon.tools
  .list()
  .filter(({ source, served }) => source === 'plugin' && served.unit.manifest.isolation === 'call')
  .flatMap(({ name, manifest }) => manifest.examples.map(({ args }) => ({ name, args })));

describe('replays of the example plugins', () => {
  it('come to the same, and leave nothing outside', { timeout: 900_000 }, async () => {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const { name, args } = examples[index % examples.length] ?? { name: '', args: {} };
      const answer = await daemon.call(name, args);
      expect(answer.status).toBe('success');
      ids.push(answer.executionId);
    }
    const outside = () => ({
      executions: executions.list({}, operator).total,
      values: daemon.plugins.list().flatMap(({ path }) => [...store.kv.page(daemon.plugins.pathOf(path), { limit: 1000 })]),
      events: store.events.lastSeq(),
    });
    const before = outside();
    const engines = new Set<string>();
    for (const id of ids) {
      const report = await replays.replay(id, {}, { caller: operator, signal: new AbortController().signal });
      expect(report).toMatchObject({ same: true, isSameCode: true, asked: [], notes: [] });
      engines.add(report.engine);
    }
    expect(outside()).toEqual(before);
    expect([...engines].sort()).toEqual(['extism', 'quickjs']);
  });
});
