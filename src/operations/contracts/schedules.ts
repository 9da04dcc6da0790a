import { type Static, Type } from 'typebox';
import { defineContract } from '../operation.ts';
import { listOf, pageQuery } from './paging.ts';

const id = Type.String({ minLength: 1, maxLength: 64 });

const scheduleView = Type.Object({
  id,
  tool: Type.String(),
  caller: Type.String({ description: 'With whose rights it is called.' }),
  session: Type.String(),
  arguments: Type.Unknown(),
  time: Type.Union([
    Type.Object({ atMs: Type.Number() }),
    Type.Object({ everyMs: Type.Number() }),
    Type.Object({ cron: Type.String() }),
  ]),
  nextAtMs: Type.Number(),
  madeAtMs: Type.Number(),
});

/** A call for later as every door shows it. */
export type ScheduleView = Static<typeof scheduleView>;

/** What can be done with calls for later. */
export const scheduleContracts = {
  list: defineContract({
    name: 'schedules.list',
    summary: 'Lists calls that are made later, the next one first; a caller sees its own.',
    role: 'caller',
    input: pageQuery,
    output: listOf(scheduleView),
    http: { method: 'GET', path: '/api/schedules' },
  }),
  cancel: defineContract({
    name: 'schedules.cancel',
    summary: 'Cancels a call that is made later.',
    role: 'caller',
    input: { id },
    output: Type.Object({ id }),
    http: { method: 'DELETE', path: '/api/schedules/:id' },
  }),
};
