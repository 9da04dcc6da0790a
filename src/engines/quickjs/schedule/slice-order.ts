import type { BorderView } from '../../../border/border.ts';
import { budgetOf, type CellCall } from '../cell-call.ts';
import { packBudget } from './slice-budget.ts';
import type { SliceOrder, WorkerThread } from './worker-thread.ts';

/**
 * Describes the next slice of a call for the thread that runs it, and notes that the call runs there now. What is empty
 * is left out: a short call costs little more than the copying of its message.
 */
export function orderSlice(thread: WorkerThread, call: CellCall, image: Uint8Array | undefined): SliceOrder {
  const { cell, answers, start, open } = call;
  const view = call.host.view();
  const order: SliceOrder = {
    cellId: cell.id,
    programKey: cell.program.key,
    pending: open.size,
    keep: call.keepCell,
    ...packBudget(budgetOf(call)),
    ...(image && { image }),
    ...(cell.place.kind === 'parked' && { delta: cell.place.delta }),
    ...(cell.place.kind === 'stored' && { deltaFile: cell.place.file }),
    ...(start && { start }),
    ...(answers.length > 0 && { answers }),
    ...(isEmptyView(view) ? {} : { view }),
    ...(call.answered && { earlier: { answered: call.answered, clockOffsetMs: call.clockOffsetMs } }),
  };
  call.answers = [];
  call.state = 'running';
  call.thread = thread;
  cell.place = { kind: 'resident', thread };
  return order;
}

function isEmptyView(view: BorderView): boolean {
  for (const _key in view.config) return false;
  for (const _key in view.env) return false;
  for (const _key in view.denied) return false;
  return true;
}
