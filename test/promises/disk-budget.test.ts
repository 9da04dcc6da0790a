import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const echo = `export default {
  name: 'echo', description: 'Says it again.', parameters: { type: 'object' }, handler: (args) => args,
};`;
const fails = `export default {
  name: 'fails', description: 'Fails.', parameters: { type: 'object' },
  handler: (args, context) => { for (let n = 0; n < 100; n++) context.log.info(String(args.text).slice(0, 2000)); throw new Error('no'); },
};`;
const MIB = 1024 * 1024;
const loud: Caller = { id: 'key_loud', role: 'caller' };
const quiet: Caller = { id: 'key_quiet', role: 'caller' };

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  house = await startSmallDaemon(
    { 'echo.ts': echo, 'fails.ts': fails },
    { executions: { maxBytes: 4 * MIB, maxValueBytes: 64 * 1024 } },
  );
});
afterAll(() => house.close());

const databaseBytes = () => statSync(join(house.folder, '.hotcell', 'hotcell.db')).size;
const text = (index: number) => String(index).padEnd(60_000, 'abcdefghij');

describe('what one key leaves on the disk', () => {
  it('is bounded, whatever it calls, and costs nobody else a record', async () => {
    const { executionId } = await house.call('echo', { text: 'mine' }, { caller: quiet });
    let last = '';
    for (let index = 0; index < 400; index++) {
      const tool = index % 4 === 0 ? 'fails' : 'echo';
      last = (await house.call(tool, { text: text(index) }, { caller: loud })).executionId;
    }
    await house.parts.store.committed();
    const { executions } = house.parts;
    expect(executions.get(executionId, quiet)).toMatchObject({ output: { text: 'mine' } });
    expect(executions.get(last, loud)).toMatchObject({ status: 'success' });
    const { total } = executions.list({ limit: 1 }, loud);
    expect(total).toBeGreaterThan(10);
    expect(total * 60_000).toBeLessThan(4 * MIB);
    // 400 calls sent and got 42 MB; pages that records left are used again.
    expect(databaseBytes()).toBeLessThan(12 * MIB);
  });

  it('keeps the beginning of what is long, and says how long it was', async () => {
    const long = 'y'.repeat(200_000);
    const answer = await house.call('echo', { text: long }, { caller: quiet });
    expect(answer.output).toEqual({ text: long });
    const record = house.parts.executions.get(answer.executionId, quiet);
    expect(record).toMatchObject({
      cut: { arguments: 200_011, output: 200_011 },
      arguments: expect.stringMatching(/^\{"text":"y+…$/),
    });
    expect(JSON.stringify(record).length).toBeLessThan(20_000);
  });

  it('keeps an answer whole that a key may ask for again', async () => {
    const request = { caller: quiet, idempotencyKey: 'again' };
    const args = { text: 'z'.repeat(200_000) };
    const first = await house.call('echo', args, request);
    expect(await house.call('echo', args, request)).toMatchObject({ replayed: true, output: first.output });
  });
});
