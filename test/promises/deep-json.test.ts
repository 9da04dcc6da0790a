import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/calling/call-arguments.ts';
import { parseMessage } from '../../src/http/json-rpc/message.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const keeper = `export default {
  version: '1.0.0',
  description: 'Keeps a value that nests as deeply as it is told. Use in tests.',
  permissions: { kv: true },
  parameters: { type: 'object', properties: { levels: { type: 'number' } } },
  handler: async ({ levels }, context) => {
    let value = 1;
    for (let level = 0; level < levels; level++) value = [value];
    try {
      await context.kv.set('deep', value);
      return 'kept';
    } catch (error) {
      return error.code;
    }
  },
};`;

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  house = await startSmallDaemon({ 'keeper.ts': keeper }, {}, { listen: true });
}, 60_000);
afterAll(() => house.close());

it.each([
  [400, 'kept'],
  [600, 'arguments-invalid'],
  [1500, 'arguments-invalid'],
])('a value of %i levels is %s when a plugin stores it', async (levels, output) => {
  expect((await house.call('keeper', { levels })).output).toBe(output);
});

it.each([600, 5000, 20_000, 200_000])('a body of %i levels is refused with words at every door', async (levels) => {
  const { url } = house.daemon;
  const token = readFileSync(join(house.folder, '.hotcell', 'token'), 'utf8').trim();
  for (const path of ['/api/tools/keeper/call', '/api/plugins/keeper/reload']) {
    const body = `{"arguments":{"levels":${nested(levels)}}}`;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('nests deeper')]);
  }
  expect(JSON.stringify(parseMessage(nested(levels)))).toContain('nests deeper');
  expect(() => parseArguments(`{"a":${nested(levels)}}`)).toThrow(/nests deeper/);
});
