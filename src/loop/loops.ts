import type { Caller } from '../callers/caller.ts';
import { maySee } from '../calls/record/execution-reader.ts';
import { waitForEnd } from '../calls/time-limit.ts';
import { createPlaceCount, type HeldPlace } from '../concurrency/place-count.ts';
import { countedAs } from '../config/counted-callers.ts';
import { quotas } from '../config/quotas.ts';
import { Deadline } from '../engines/deadline.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { LoopRow, LoopTable } from '../store/tables/calls/loops.ts';
import { clientNamesOf } from './decide-round.ts';
import { createKeptLoops, type KeptLoop } from './kept-loops.ts';
import type { LoopEnd, LoopEvent, LoopRequest, Loops, LoopView } from './loop.ts';
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

/** The loops, with what the composition root needs beside them. */
export interface LoopsHandle extends Loops {
  /** Goes on with the loops of the last run of the daemon: once its calls go on. */
  resume(): void;
  /** Cancels the loops of a caller whose key was revoked. */
  shutOut(callerId: string): void;
  /** Leaves every loop where it is to the next run of the daemon. */
  leave(): void;
  /** Resolves when no loop runs any more. */
  left(): Promise<void>;
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

/** Creates the loops of the daemon. One that has run a call survives the end of the daemon, and its end is kept for a day. */
export function createLoops(parts: Parts): LoopsHandle {
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
    const unkept: LoopStep[] = [];
    let isDecided = isKept;
    const isClients = clientNamesOf(request);
    const loop: LiveLoop = {
      request,
      state,
      deadline: new Deadline(state.leftMs ?? request.bounds.timeoutMs),
      signal: AbortSignal.any([cancelling.signal, ...signals]),
      leaving: leaving.signal,
      // Before its first call nothing has happened that a restart could not begin anew.
      keep(step) {
        const calls = step.type === 'answer' && callsOf(step.answer).some(({ name }) => !isClients(name));
        if (!isDecided) unkept.push(step);
        if (!isDecided && calls) {
          isDecided = true;
          loop.isKept = kept.begin(request, startedAtMs);
          for (const each of unkept.splice(0)) loop.isKept &&= kept.addStep(request, each);
        } else if (isDecided) loop.isKept &&= kept.addStep(request, step);
      },
      startedAtMs,
      cancelling,
      listeners: new Set(),
      calls: new Map(),
      ended: Promise.withResolvers(),
      place: places.take(holderOf(request.caller)),
      isKept,
      view: { state: 'running' },
    };
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
      const event = describeFault(loop, error);
      if (event.error?.code !== 'shutting-down') see(loop, event);
      yield event;
    } finally {
      loop.place.leave();
      live.delete(request.id);
      loop.ended.resolve();
    }
  }

  function describeFault(loop: LiveLoop, error: unknown): Extract<LoopEvent, { type: 'loop-end' }> {
    const { id } = loop.request;
    if (!(error instanceof HotcellError)) onFault(error, id);
    const told =
      error instanceof HotcellError
        ? error
        : new HotcellError('internal', `The daemon failed in the loop ${id}; its log says why.`);
    const { code, message, fix } = told;
    return { type: 'loop-end', ...describeEnd(loop, 'failed'), error: { code, message, fix } };
  }

  function see(loop: LiveLoop, event: LoopEvent): void {
    const { id, caller, purpose, conversation } = loop.request;
    const tell = (data: Parameters<typeof events.publish<'loop-step'>>[1]['data']): void =>
      events.publish('loop-step', { caller: caller.id, subject: id, data });
    if (event.type === 'loop-end') {
      const { type: _type, ...end } = event;
      loop.view = { state: 'ended', end, endedAtMs: now() };
      keepEnd(loop, end);
      const { reason, rounds } = end;
      events.publish('loop-end', {
        caller: caller.id,
        subject: id,
        data: { reason, purpose, model: conversation.model, rounds },
      });
    } else if (event.type === 'round-start') {
      loop.calls.clear();
      tell({ step: event.type, round: event.round });
    } else if (event.type === 'steered') tell({ step: event.type });
    else if (event.type !== 'model') {
      const { type: step, round, callId, name, executionId } = event;
      const approval = event.type === 'call-waiting' ? event.approval : undefined;
      const ran = executionId === undefined ? {} : { executionId };
      const status = event.type === 'call-end' ? { status: event.status } : {};
      if (event.type === 'call-end') loop.calls.delete(callId);
      else loop.calls.set(callId, { callId, name, ...ran, ...(approval !== undefined && { approval }) });
      tell({ step, round, tool: name, ...ran, ...status, ...(approval !== undefined && { question: approval }) });
    }
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

  function viewLive(loop: LiveLoop): LoopView {
    const { request, state, startedAtMs, view, calls } = loop;
    const { id, caller, purpose, conversation } = request;
    const facts = { id, caller: caller.id, purpose, model: conversation.model, startedAtMs };
    return { ...facts, rounds: state.rounds, calls: [...calls.values()], usage: state.usage, ...view };
  }

  function viewRow(row: LoopRow): LoopView | undefined {
    const end = kept.readEnd(row);
    const { id, caller, model, startedAtMs, endedAtMs } = row;
    const purpose = purposes.find((each) => each === row.purpose);
    if (end === undefined || purpose === undefined || endedAtMs === null) return undefined;
    const { rounds, usage } = end;
    return { id, caller, purpose, model, state: 'ended', rounds, calls: [], usage, startedAtMs, end, endedAtMs };
  }

  function get(id: string, caller: Caller): LoopView {
    const loop = live.get(id);
    const row = loop === undefined ? table.get(id) : undefined;
    const view = loop === undefined ? row && viewRow(row) : viewLive(loop);
    if (view === undefined || !maySee(caller, view.caller)) throw loopUnknown(id);
    return view;
  }

  return {
    run(request) {
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
    list(caller) {
      const running = [...live.values()].map(viewLive).filter((view) => maySee(caller, view.caller));
      const rows = table.list({ limit: maxListed, ...(caller.role === 'admin' ? {} : { caller: caller.id }) });
      const ended = rows.flatMap((row) => (live.has(row.id) ? [] : (viewRow(row) ?? [])));
      return [...running, ...ended].sort((a, b) => b.startedAtMs - a.startedAtMs).slice(0, maxListed);
    },
    get,
    async follow(id, caller, signal, onEvent) {
      const view = get(id, caller);
      const loop = live.get(id);
      if (loop === undefined) return view;
      if (onEvent !== undefined) loop.listeners.add(onEvent);
      await waitForEnd(loop.ended.promise, foreverMs, signal);
      if (onEvent !== undefined) loop.listeners.delete(onEvent);
      return viewLive(loop);
    },
    cancel(id, caller) {
      get(id, caller);
      const loop = live.get(id);
      if (loop === undefined || loop.view.state === 'ended' || loop.signal.aborted) return false;
      loop.cancelling.abort();
      return true;
    },
    steer(id, caller, messages) {
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
    resume() {
      for (const row of table.listOpen()) if (!live.has(row.id)) goOn(row);
    },
    shutOut(callerId) {
      for (const { request, cancelling } of live.values()) if (request.caller.id === callerId) cancelling.abort();
    },
    leave: () => leaving.abort(),
    async left() {
      await Promise.all([...live.values()].map(({ ended }) => ended.promise));
    },
  };
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
