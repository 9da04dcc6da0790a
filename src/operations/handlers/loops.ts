import { omitUndefined } from '../../config/json-object.ts';
import { textOf } from '../../conversation/conversation.ts';
import type { LoopEnd, LoopView } from '../../loop/loop.ts';
import { loopContracts } from '../contracts/loops.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { filterFor } from './events.ts';

/** What can be done with loops of models and tools. */
export function createLoopOperations({ loops, events }: Pick<OperationParts, 'loops' | 'events'>): Operation[] {
  return [
    implement(loopContracts.list, (_input, { caller }) => pageOfAll(loops.list(caller).map(showLoop))),
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

function showLoop({ end, usage, ...view }: LoopView) {
  return { ...view, tokens: usage.inputTokens + usage.outputTokens, ...omitUndefined({ cost: end?.cost }) };
}

function showWhole(view: LoopView) {
  return { ...showLoop(view), ...(view.end && { end: showEnd(view.end) }) };
}

function showEnd({ reason, pressedBy, answer, messages, error }: LoopEnd) {
  return { reason, text: textOf(answer.parts), messages, ...omitUndefined({ pressedBy, error }) };
}
