import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../../src/operations/contracts/approvals.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { engineSubjects, presentParts, type Step, type StepAnswer } from './subjects.ts';

const questions = 45;
const subjects = presentParts(engineSubjects, ({ title }) => title);
const confirm: readonly Step[] = [{ op: 'confirm', payload: { question: 'May I?' } }];
const ordinary: readonly Step[] = [{ op: 'tools.list', payload: {} }];
let world: EngineHouse;

beforeAll(async () => {
  const grants = Object.fromEntries(subjects.map(({ plugin }) => [plugin, { tools: ['*'] }]));
  world = await openEngineHouse({ subjects, config: { grants } });
}, 120_000);
afterAll(() => world.close());

describe.each(subjects.map((subject) => [subject.title, subject] as const))(
  'open questions of one caller on %s',
  (_title, subject) => {
    it('leave places to everybody else, and are refused beyond their bound with a sentence', async () => {
      const [ann, bob] = await Promise.all([world.makeCaller('ann'), world.makeCaller('bob')]);
      const ended: StepAnswer[] = [];
      const flood = Array.from({ length: questions }, () =>
        subject.ask(ann.call, confirm).then(([answer]) => {
          if (answer !== undefined) ended.push(answer);
        }),
      );
      const listOpen = async () => {
        const { items } = await world.house.client.invoke(approvalContracts.list, { status: 'open', limit: 1000 });
        return items.filter(({ caller }) => caller === ann.id);
      };
      // Each of them waits for a person now, or was told that too many do.
      await expect.poll(async () => (await listOpen()).length + ended.length, { timeout: 90_000 }).toBe(questions);
      const open = await listOpen();
      expect(open.length).toBeGreaterThan(1);
      for (const answer of ended) {
        expect(answer).toMatchObject({
          ok: false,
          code: 'queue-full',
          message: expect.stringMatching(/calls of this caller .*Try again later/),
        });
      }
      expect(await subject.ask(bob.call, ordinary)).toMatchObject([{ ok: true }]);
      expect(await subject.ask(world.house.call, ordinary)).toMatchObject([{ ok: true }]);
      for (const { id } of open) await world.house.client.invoke(approvalContracts.answer, { id, answer: 'approve' });
      await Promise.all(flood);
      expect(ended.filter(({ ok }) => ok)).toHaveLength(open.length);
    }, 120_000);
  },
);
