import { expect, it } from 'vitest';
import { createExecutionReader } from '../../../src/calls/record/execution-reader.ts';
import { endedRow } from '../../store/rows.ts';
import { temporaryStore } from '../../store/temporary-store.ts';

it('gives as many executions as were asked for, up to 1000', () => {
  const store = temporaryStore();
  for (let n = 1000; n < 2001; n++) store.executions.insert(endedRow(`e${n}`));
  const reader = createExecutionReader({ store });
  const list = (limit?: number) => reader.list({ ...(limit !== undefined && { limit }) }, { id: 'local', role: 'admin' });
  expect(list(1000)).toMatchObject({ items: { length: 1000 }, next: 'e1001', total: 1001 });
  expect(list().items).toHaveLength(50);
});
