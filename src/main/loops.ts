import { operatorCaller } from '../callers/caller.ts';
import type { KeyRing } from '../callers/key-ring.ts';
import type { ExecutionReader, ToolCaller } from '../calls/call-types.ts';
import { waitAtMost } from '../calls/time-limit.ts';
import { createLoops, type Loops } from '../loop/loops.ts';
import { createLoopCallRunner } from '../loop/run-call.ts';
import { costOf, findPrice, nanosPerDollar } from '../models/prices.ts';
import type { Upstreams } from '../models/upstream.ts';
import type { Consents } from './consents.ts';
import type { Foundation } from './foundation.ts';

/** Opens the loops of models and tools. */
export function openLoops(
  { config, store, secrets, events, logFault }: Foundation,
  parts: {
    readonly caller: ToolCaller;
    readonly executions: ExecutionReader;
    readonly approvals: Consents['approvals'];
    readonly keys: Pick<KeyRing, 'current'>;
    readonly upstreams: Pick<Upstreams, 'ask'>;
  },
): Loops {
  const { keys, upstreams } = parts;
  const findCaller = (id: string) => (id === operatorCaller.id ? operatorCaller : keys.current(id));
  return createLoops({
    upstreams,
    runCall: createLoopCallRunner({ ...parts, events, findCaller }),
    costOf({ provider, model }, usage) {
      const price = findPrice(config.models, provider, model);
      return price && costOf(price, usage) / nanosPerDollar;
    },
    table: store.loops,
    events,
    redactor: secrets.redactor,
    findCaller,
    now: Date.now,
    onFault: logFault,
  });
}

/** A loop whose reader is slow may not stop in time; it is kept all the same. */
const leaveGraceMs = 5_000;

/** Waits until the loops are left to the next run of the daemon. */
export function waitForLoops(loops: Loops): Promise<void> {
  return waitAtMost(loops.left(), leaveGraceMs);
}
