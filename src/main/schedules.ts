import { type Caller, operatorCaller } from '../callers/caller.ts';
import { type CallScheduler, createCallScheduler } from '../calls/call-scheduler.ts';
import type { ToolCaller } from '../calls/call-types.ts';
import type { Foundation } from './foundation.ts';

/** Opens the calls that are made later. */
export function openSchedules(
  { store, events, closers, logFault }: Foundation,
  needs: { readonly call: ToolCaller['call']; readonly findKey: (id: string) => Caller | undefined },
): CallScheduler {
  const schedules = createCallScheduler({
    table: store.schedules,
    call: needs.call,
    current: (id) => (id === operatorCaller.id ? operatorCaller : needs.findKey(id)),
    clock: {
      now: Date.now,
      wait(ms, wake) {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      },
    },
    onProblem: ({ id, caller, tool }, { code, message }) =>
      events.publish('schedule-problem', { subject: id, caller, data: { tool, code, message } }),
    onFault: (error) => logFault(error),
  });
  closers.push(() => schedules.close());
  return schedules;
}
