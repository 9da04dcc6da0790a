import type { Caller } from '../callers/caller.ts';
import { maySee } from '../calls/record/execution-reader.ts';
import { waitForEnd } from '../calls/time-limit.ts';
import { createPlaceCount, type HeldPlace } from '../concurrency/place-count.ts';
import { countedAs } from '../config/counted-callers.ts';
import { omitUndefined } from '../config/json-object.ts';
import { quotas } from '../config/quotas.ts';
import type { Message } from '../conversation/conversation.ts';
import { Deadline } from '../engines/deadline.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { LoopRow, LoopTable } from '../store/tables/calls/loops.ts';
import { clientNamesOf } from './decide-round.ts';
import { createKeptLoops, type KeptLoop } from './kept-loops.ts';
import type { LoopEnd, LoopEvent, LoopRequest, LoopView } from './loop.ts';
import { applyStep, callsOf, freshState, type LoopState, type LoopStep } from './loop-state.ts';
import { describeEnd, type RunLoopParts, type RunningLoop, runLoop } from './run-loop.ts';

interface Parts extends RunLoopParts {
  readonly table: LoopTable;
  readonly events: Pick<EventLog, 'publish'>;
  readonly redactor?: Redactor | undefined;
  /** Who a caller is now; undefined when its key is gone. */
  readonly findCaller: (id: string) => Caller | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Hears of faults in the daemon itself. Must not throw. */
  readonly onFault: (error: unknown, loopId: string) => void;
}

/** One loop that runs, with those who look at it. */
interface LiveLoop extends RunningLoop {
  readonly startedAtMs: number;
  readonly cancelling: AbortController;
  readonly listeners: Set<(event: LoopEvent) => void>;
  readonly calls: Map<string, LoopView['calls'][number]>;
  readonly ended: PromiseWithResolvers<void>;
  readonly place: HeldPlace;
  /** It is in the store, and its end will be. */
  isKept: boolean;
  view: Pick<LoopView, 'state' | 'end' | 'endedAtMs'>;
}

const maxListed = 200;

/** The loops of the daemon. A caller sees its own, an admin all; what it does not see is `not-found`. */
export type Loops = ReturnType<typeof createLoops>;

/** Creates the loops of the daemon. One that has run a call survives the end of the daemon, and its end is kept for a day. */
export function createLoops(parts: Parts) {
  const { table, events, findCaller, now, onFault } = parts;
  const kept = createKeptLoops(parts);
  const live = new Map<string, LiveLoop>();
  const places = createPlaceCount(quotas['loop.running']);
  const leaving = new AbortController();

  function admit(request: LoopRequest): void {
    const { id, caller } = request;
    if (leaving.signal.aborted) throw new HotcellError('shutting-down', 'The daemon is stopping.');
    if (live.has(id) || table.get(id) !== undefined) throw new HotcellError('conflict', `There is a loop "${id}" already.`);
    const full = places.findFull(holderOf(caller));
    if (full === undefined) return;
    throw new HotcellError('queue-full', `At most ${full.max} loops run at once, and so many do.`, {
      fix: 'Wait for one to end, or cancel one: hotcell loops.',
    });
  }

  function open(request: LoopRequest, state: LoopState, startedAtMs: number, isKept: boolean): LiveLoop {
    const cancelling = new AbortController();
    const signals = request.signal === undefined ? [] : [request.signal];
    const loop: LiveLoop = {
      request,
      state,
      deadline: new Deadline(state.leftMs ?? request.bounds.timeoutMs),
      signal: AbortSignal.any([cancelling.signal, ...signals]),
      leaving: leaving.signal,
      keep: (step) => keep(step),
      startedAtMs,
      cancelling,
      listeners: new Set(),
      calls: new Map(),
      ended: Promise.withResolvers(),
      place: places.take(holderOf(request.caller)),
      isKept,
      view: { state: 'running' },
    };
    const add = (step: LoopStep): void => {
      loop.isKept &&= kept.addStep(request, step);
    };
    const begin = (): void => {
      loop.isKept = kept.begin(request, startedAtMs);
    };
    const keep = isKept ? add : keepFromFirstCall(request, begin, add);
    live.set(request.id, loop);
    return loop;
  }

  /** Runs a loop to its end, and tells of it. */
  async function* drive(loop: LiveLoop): AsyncGenerator<LoopEvent, void> {
    const { request } = loop;
    try {
      for await (const event of runLoop(loop, parts)) {
        see(loop, event);
        yield event;
      }
    } catch (error) {
      const event = describeFault(loop, error, onFault);
      if (event.error?.code !== 'shutting-down') see(loop, event);
      yield event;
    } finally {
      loop.place.leave();
      live.delete(request.id);
      loop.ended.resolve();
    }
  }

  function see(loop: LiveLoop, event: LoopEvent): void {
    if (event.type === 'loop-end') {
      const { type: _type, ...end } = event;
      loop.view = { state: 'ended', end, endedAtMs: now() };
      keepEnd(loop, end);
    }
    noteCalls(loop.calls, event);
    publish(events, loop.request, event);
    for (const listen of loop.listeners) listen(event);
  }

  function keepEnd({ request: { id }, isKept }: LiveLoop, end: LoopEnd): void {
    try {
      if (isKept) kept.end(id, end);
    } catch (error) {
      onFault(error, id);
    }
  }

  async function drain(reading: AsyncIterator<LoopEvent>): Promise<void> {
    while (!(await reading.next()).done);
  }

  function goOn(row: LoopRow): void {
    const stored = kept.read(row);
    const caller = findCaller(row.caller);
    if (stored === undefined) {
      table.remove(row.id);
      return;
    }
    const loop = openKept(stored, caller ?? { id: row.caller, role: 'caller', tools: [] }, row.startedAtMs);
    if (caller === undefined) loop.cancelling.abort();
    drain(drive(loop)).catch((error: unknown) => onFault(error, row.id));
  }

  function openKept({ steps, ...request }: KeptLoop, caller: Caller, startedAtMs: number): LiveLoop {
    const { renewals } = request.bounds;
    const state = steps.reduce((sum, step) => applyStep(sum, step, renewals), freshState);
    return open({ ...request, caller }, state, startedAtMs, true);
  }

  function get(id: string, caller: Caller): LoopView {
    const loop = live.get(id);
    const row = loop === undefined ? table.get(id) : undefined;
    const view = loop === undefined ? row && viewRow(row, kept.readEnd(row)) : viewLive(loop);
    if (view === undefined || !maySee(caller, view.caller)) throw loopUnknown(id);
    return view;
  }

  return {
    /**
     * Runs a loop: model, tool calls, model … Nothing goes on faster than the events are read; when the reader leaves, the loop goes on by
     * itself, unless its signal aborts. Throws `conflict` for an id that is there, and `queue-full` when too many loops run.
     */
    run(request: LoopRequest): AsyncIterable<LoopEvent> {
      admit(request);
      const reading = drive(open(request, freshState, now(), false));
      const next = () => reading.next();
      // Whoever stops to read leaves the loop to itself.
      const leave = async (): Promise<IteratorResult<LoopEvent>> => {
        drain(reading).catch((error: unknown) => onFault(error, request.id));
        return { done: true, value: undefined };
      };
      return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
    },
    list(caller: Caller): LoopView[] {
      const running = [...live.values()].map(viewLive).filter((view) => maySee(caller, view.caller));
      const rows = table.list({ limit: maxListed, ...(caller.role === 'admin' ? {} : { caller: caller.id }) });
      const ended = rows.flatMap((row) => (live.has(row.id) ? [] : (viewRow(row, kept.readEnd(row)) ?? [])));
      return [...running, ...ended].sort((a, b) => b.startedAtMs - a.startedAtMs).slice(0, maxListed);
    },
    get,
    /** Resolves with the end, or as it is when the signal aborts. `onEvent` hears what happens until then; it must not throw. */
    async follow(id: string, caller: Caller, signal: AbortSignal, onEvent?: (event: LoopEvent) => void): Promise<LoopView> {
      const view = get(id, caller);
      const loop = live.get(id);
      if (loop === undefined) return view;
      if (onEvent !== undefined) loop.listeners.add(onEvent);
      await waitForEnd(loop.ended.promise, foreverMs, signal);
      if (onEvent !== undefined) loop.listeners.delete(onEvent);
      return viewLive(loop);
    },
    /** False when it had ended. */
    cancel(id: string, caller: Caller): boolean {
      get(id, caller);
      const loop = live.get(id);
      if (loop === undefined || loop.view.state === 'ended' || loop.signal.aborted) return false;
      loop.cancelling.abort();
      return true;
    },
    /** Says something to the model between two rounds. Throws `conflict` when the loop has ended. */
    steer(id: string, caller: Caller, messages: readonly Message[]): void {
      get(id, caller);
      const loop = live.get(id);
      if (loop === undefined || loop.view.state === 'ended') throw new HotcellError('conflict', `The loop "${id}" has ended.`);
      const most = quotas['loop.steering'].each.max;
      if (loop.state.steering.length + messages.length > most) {
        const message = `At most ${most} messages wait to be taken into a loop, and ${loop.state.steering.length} do.`;
        throw new HotcellError('queue-full', message, { fix: 'Say it again after the next round.' });
      }
      const step = { type: 'steer', messages } as const;
      loop.keep(step);
      loop.state = applyStep(loop.state, step, loop.request.bounds.renewals);
    },
    /** Goes on with the loops of the last run of the daemon: once its calls go on. */
    resume(): void {
      for (const row of table.listOpen()) if (!live.has(row.id)) goOn(row);
    },
    /** Cancels the loops of a caller whose key was revoked. */
    shutOut(callerId: string): void {
      for (const { request, cancelling } of live.values()) if (request.caller.id === callerId) cancelling.abort();
    },
    /** Leaves every loop where it is to the next run of the daemon. */
    leave: (): void => leaving.abort(),
    /** Resolves when no loop runs any more. */
    async left(): Promise<void> {
      await Promise.all([...live.values()].map(({ ended }) => ended.promise));
    },
  };
}

/** Before its first call nothing has happened that a restart could not begin anew: what came until then is kept with it. */
function keepFromFirstCall(request: LoopRequest, begin: () => void, add: (step: LoopStep) => void): (step: LoopStep) => void {
  const isClients = clientNamesOf(request);
  const waiting: LoopStep[] = [];
  let isBegun = false;
  return (step) => {
    waiting.push(step);
    if (!isBegun && step.type === 'answer' && callsOf(step.answer).some(({ name }) => !isClients(name))) {
      isBegun = true;
      begin();
    }
    if (isBegun) for (const each of waiting.splice(0)) add(each);
  };
}

/** What runs of a turn, as people see it. */
function noteCalls(calls: LiveLoop['calls'], event: LoopEvent): void {
  if (event.type === 'round-start') calls.clear();
  else if (event.type === 'call-end') calls.delete(event.callId);
  else if (event.type === 'call-start' || event.type === 'call-waiting') {
    const { callId, name, executionId } = event;
    const approval = event.type === 'call-waiting' ? event.approval : undefined;
    calls.set(callId, { callId, name, ...omitUndefined({ executionId, approval }) });
  }
}

/** Tells the events of the daemon of it. */
function publish(events: Parts['events'], { id, caller, purpose, conversation }: LoopRequest, event: LoopEvent): void {
  const about = { caller: caller.id, subject: id };
  switch (event.type) {
    case 'model':
      return;
    case 'loop-end': {
      const { reason, rounds } = event;
      events.publish('loop-end', { ...about, data: { reason, purpose, model: conversation.model, rounds } });
      return;
    }
    case 'round-start':
      events.publish('loop-step', { ...about, data: { step: event.type, round: event.round } });
      return;
    case 'steered':
      events.publish('loop-step', { ...about, data: { step: event.type } });
      return;
    default: {
      const { type: step, round, name: tool, executionId } = event;
      const status = event.type === 'call-end' ? event.status : undefined;
      const question = event.type === 'call-waiting' ? event.approval : undefined;
      events.publish('loop-step', { ...about, data: { step, round, tool, ...omitUndefined({ executionId, status, question }) } });
    }
  }
}

function describeFault(loop: LiveLoop, error: unknown, onFault: Parts['onFault']): Extract<LoopEvent, { type: 'loop-end' }> {
  const { id } = loop.request;
  if (!(error instanceof HotcellError)) onFault(error, id);
  const told =
    error instanceof HotcellError
      ? error
      : new HotcellError('internal', `The daemon failed in the loop ${id}; its log says why.`);
  const { code, message, fix } = told;
  return { type: 'loop-end', ...describeEnd(loop, 'failed'), error: { code, message, fix } };
}

function viewLive(loop: LiveLoop): LoopView {
  const { request, state, startedAtMs, view, calls } = loop;
  const { id, caller, purpose, conversation } = request;
  const facts = { id, caller: caller.id, purpose, model: conversation.model, startedAtMs };
  return { ...facts, rounds: state.rounds, calls: [...calls.values()], usage: state.usage, ...view };
}

function viewRow(row: LoopRow, end: LoopEnd | undefined): LoopView | undefined {
  const { id, caller, model, startedAtMs, endedAtMs } = row;
  const purpose = purposes.find((each) => each === row.purpose);
  if (end === undefined || purpose === undefined || endedAtMs === null) return undefined;
  const { rounds, usage } = end;
  return { id, caller, purpose, model, state: 'ended', rounds, calls: [], usage, startedAtMs, end, endedAtMs };
}

/** The longest delay of a timer. */
const foreverMs = 2 ** 31 - 1;
const purposes = ['gateway', 'chat', 'repair', 'plugin'] as const;

function holderOf({ id, role }: Caller) {
  return { callerId: countedAs(id), unitPath: '', isAdmin: role === 'admin' };
}

/** The refusal for an id that does not exist, or that belongs to somebody else: the two look alike. */
function loopUnknown(id: string): HotcellError {
  return new HotcellError('loop-unknown', `There is no loop "${id.slice(0, 64)}" of yours.`);
}
