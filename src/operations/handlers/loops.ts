import { textOf } from '../../conversation/conversation.ts';
import type { LoopEnd, LoopView } from '../../loop/loop.ts';
import { loopContracts } from '../contracts/loops.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { filterFor } from './events.ts';

/** What can be done with loops of models and tools. */
export function createLoopOperations({ loops, events }: Pick<OperationParts, 'loops' | 'events'>): Operation[] {
  return [
    implement(loopContracts.list, (_input, { caller }) => {
      const items = loops.list(caller).map((view) => showLoop(view));
      return { items, total: items.length };
    }),
    implement(loopContracts.get, ({ id }, { caller }) => showWhole(loops.get(id, caller))),
    implement(loopContracts.follow, async ({ id }, { caller, signal, stream }) => {
      loops.get(id, caller);
      const endStream =
        stream && events.subscribe({ ...filterFor(caller, undefined), execution: id }, (event) => stream.event(event));
      try {
        stream?.accepted(id);
        return showWhole(await loops.follow(id, caller, signal));
      } finally {
        endStream?.();
      }
    }),
    implement(loopContracts.cancel, ({ id }, { caller }) => ({ id, cancelled: loops.cancel(id, caller) })),
    implement(loopContracts.steer, ({ id, text }, { caller }) => {
      loops.steer(id, caller, [{ role: 'user', parts: [{ type: 'text', text }] }]);
      return { id };
    }),
  ];
}

function showLoop({ end, usage, calls, ...view }: LoopView) {
  const cost = end?.cost;
  return { ...view, calls: [...calls], tokens: usage.inputTokens + usage.outputTokens, ...(cost !== undefined && { cost }) };
}

function showWhole(view: LoopView) {
  return { ...showLoop(view), ...(view.end && { end: showEnd(view.end) }) };
}

function showEnd({ reason, pressedBy, answer, messages, error }: LoopEnd) {
  const text = textOf(answer.parts);
  return { reason, ...(pressedBy && { pressedBy }), text, messages: [...messages], ...(error && { error }) };
}
