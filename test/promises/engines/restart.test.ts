import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../../src/operations/contracts/access/approvals.ts';
import { executionContracts } from '../../../src/operations/contracts/executions.ts';
import type { DaemonHouse } from '../daemon-house.ts';
import { openDaemonHouse } from '../daemon-house.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { engineSubjects, presentSubjects } from './subjects.ts';

// Isolation session: a call that waits in a cell of its own is the harder case.
const subjects = presentSubjects(engineSubjects);
let world: EngineHouse;
let second: DaemonHouse;
const waiting = new Map<string, string>();

beforeAll(async () => {
  world = await openEngineHouse({ subjects });
  for (const subject of subjects) {
    const question = `Goes ${subject.plugin} on?`;
    const asked = world.house.event('approval-request', ({ data }) => data.question.includes(question));
    void world.tryAs(subject, {}, [{ op: 'confirm', payload: { question } }]).catch(() => undefined);
    const { data } = Object(await asked);
    waiting.set(subject.title, data.execution);
  }
  await world.house.close();
  second = await openDaemonHouse(world.folder);
}, 90_000);
afterAll(async () => {
  await second.close();
  rmSync(world.folder, { recursive: true, force: true });
});

describe.each(subjects.map((subject) => [subject.title, subject] as const))(
  'a call on %s that waits for a person',
  (title, subject) => {
    it('goes on after a restart of the daemon, or was cancelled by its stop where its engine cannot', async () => {
      const id = waiting.get(title) ?? '';
      const { items } = await second.client.invoke(approvalContracts.list, {});
      const open = items.find(({ executionId }) => executionId === id);
      expect(open === undefined).toBe(title !== 'quickjs');
      if (open) await second.client.invoke(approvalContracts.answer, { id: open.id, answer: 'approve', person: true });
      const ended = await second.client.invoke(executionContracts.get, { id, waitMs: 10_000 });
      if (open) expect(ended).toMatchObject({ status: 'success', output: [{ ok: true, value: true }] });
      else expect([ended.status, ended.error?.code]).toEqual(['cancelled', 'cancelled']);
      // Whatever became of it, the plugin serves.
      const again = await subject.ask(second.call, [{ op: 'env.get', payload: { name: 'X' } }]);
      expect(again).toMatchObject([{ ok: true }]);
    });
  },
);
