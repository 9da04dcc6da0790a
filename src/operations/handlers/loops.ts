import { omitUndefined } from '../../config/json-object.ts';
import { textOf } from '../../conversation/conversation.ts';
import type { LoopEnd, LoopView } from '../../loop/loop.ts';
import { loopContracts } from '../contracts/loops.ts';
import { pageOfAll } from '../contracts/paging.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';
import { tellMeanwhile } from './events.ts';

/** What can be done with loops of models and tools. */
export function createLoopOperations({ loops, events }: Pick<OperationParts, 'loops' | 'events'>): Operation[] {
  return [
    implement(loopContracts.list, (_input, { caller }) => pageOfAll(loops.list(caller).map(showLoop))),
    implement(loopContracts.get, ({ id }, { caller }) => showWhole(loops.get(id, caller))),
    implement(loopContracts.follow, async ({ id }, context) => {
      const { caller, signal } = context;
      loops.get(id, caller);
      return showWhole(await tellMeanwhile({ events }, id, context, () => loops.follow(id, caller, signal)));
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
