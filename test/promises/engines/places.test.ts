import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAnswer } from '../../../src/calls/call-types.ts';
import { approvalContracts } from '../../../src/operations/contracts/access/approvals.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { type CallTool, engineSubjects, presentParts } from './subjects.ts';

const modules = engineSubjects.filter(({ plugin }) => plugin === 'probe_extism');
const question = { op: 'confirm', payload: { question: 'May I?' } };

const scriptOf = (engine: string) => `export default {
  engine: '${engine}',
  parameters: { type: 'object' },
  handler: ({ asks }, context) => (asks ? context.confirm('May I?') : 'fine'),
};`;

/** One plugin of each engine: a call that asks a person, so many of them that they meet their bound, and one that answers by itself. */
const plugins = presentParts(
  [
    { title: 'quickjs', tool: 'asks_quickjs', questions: 45, asking: { asks: true }, ordinary: {} },
    { title: 'extism', tool: 'probe_extism_ask', questions: 20, asking: question, ordinary: { op: 'tools.list', payload: {} } },
    { title: 'deno', needs: 'deno' as const, tool: 'asks_deno', questions: 11, asking: { asks: true }, ordinary: {} },
    { title: 'docker', needs: 'docker' as const, tool: 'asks_docker', questions: 11, asking: { asks: true }, ordinary: {} },
  ],
  ({ title }) => title,
);
let world: EngineHouse;

beforeAll(async () => {
  const scripts = plugins.filter(({ title }) => title !== 'extism');
  world = await openEngineHouse({
    subjects: modules,
    plugins: Object.fromEntries(scripts.map(({ title, tool }) => [`${tool}.ts`, scriptOf(title)])),
    config: { grants: { probe_extism: { tools: ['*'] } }, limits: { wallMs: 120_000 } },
  });
}, 120_000);
afterAll(() => world.close());

describe.each(plugins.map((each) => [each.title, each] as const))('open questions of one caller on %s', (title, plugin) => {
  const call = (as: CallTool, args: object): Promise<CallAnswer> => as(plugin.tool, { ...args });
  /** A module says itself what it was refused. */
  const refusalOf = ({ output, error }: CallAnswer): unknown => (title === 'extism' ? output : error);

  it('leave places to everybody else, and are refused beyond their bound with a sentence', async () => {
    const [ann, bob] = await Promise.all([world.makeCaller('ann'), world.makeCaller('bob')]);
    const refused: CallAnswer[] = [];
    let areAnswered = false;
    const flood = Array.from({ length: plugin.questions }, async () => {
      const answer = await call(ann.call, plugin.asking);
      if (!areAnswered) refused.push(answer);
    });
    const listOpen = async () => {
      const { items } = await world.house.client.invoke(approvalContracts.list, { status: 'open', limit: 1000 });
      return items.filter(({ caller }) => caller === ann.id);
    };
    // Each of them waits for a person now, or was told that too many do.
    await expect.poll(async () => (await listOpen()).length + refused.length, { timeout: 100_000 }).toBe(plugin.questions);
    const open = await listOpen();
    expect(open.length).toBeGreaterThan(1);
    // Cells wait as bytes, of which a caller may have many more.
    expect(refused.length > 0).toBe(title !== 'quickjs');
    for (const answer of refused) {
      const message = expect.stringMatching(/calls of this caller .*Try again later/);
      expect(refusalOf(answer)).toMatchObject({ code: 'queue-full', message });
    }
    expect(await call(bob.call, plugin.ordinary)).toMatchObject({ status: 'success' });
    expect(await call(world.house.call, plugin.ordinary)).toMatchObject({ status: 'success' });
    areAnswered = true;
    for (const { id } of open) await world.house.client.invoke(approvalContracts.answer, { id, answer: 'approve' });
    await Promise.all(flood);
  }, 150_000);
});
