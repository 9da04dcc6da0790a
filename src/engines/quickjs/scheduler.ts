import { createVigil } from '../vigil.ts';
import type { ActiveCall, CellMemory } from './active-call.ts';
import { CellPlaces } from './cell-places.ts';
import { findIdleThread } from './idle-thread.ts';
import type { LoadEnd } from './load-result.ts';
import { Pace } from './pace.ts';
import type { CallSliceResult, FromWorker, WorkerSetup } from './protocol.ts';
import { defaultBudget } from './slice-budget.ts';
import { orderSlice } from './slice-order.ts';
import { type LoadJob, ThreadWork, type WorkItem } from './thread-work.ts';
import { type LoadOrder, WorkerThread } from './worker-thread.ts';

/** A slice may take this much longer than its time on the processor before its thread is ended. */
const GRACE_MS = 500;
/** Loading is bounded like a call; the thread that does not come back is ended. */
const LOAD_GRACE_MS = 500;
/** All threads busy for this long: another one is started, up to the maximum. */
const SATURATION_MS = 30;
/** A slice that turns out longer than this gives back the ones behind it. */
const LONG_MS = 5;

/** What the engine does with what the threads report. */
export interface SchedulerHandlers {
  readonly onSlice: (call: ActiveCall, result: CallSliceResult) => void;
  /** The thread under a running call was ended or died. */
  readonly onThreadLost: (call: ActiveCall, reason: 'killed' | 'died', detail: string) => void;
  /** The memory of a waiting call or an idle cell went down with a thread. */
  readonly onCellLost: (cell: CellMemory) => void;
  readonly findImage: (programKey: string) => Uint8Array | undefined;
  /** The image was dropped while the call waited: fetch it, then enqueue the call again. */
  readonly onImageMissing: (call: ActiveCall) => void;
}

/** Hands slices to worker threads: loads first, then calls in the order in which they became runnable. */
export class Scheduler {
  /** Where the cells of calls lie. */
  readonly places = new CellPlaces();
  readonly #setup: Omit<WorkerSetup, 'control'>;
  readonly #size: { readonly min: number; readonly max: number };
  readonly #handlers: SchedulerHandlers;
  readonly #threads = new Set<WorkerThread>();
  readonly #vigil = createVigil(() => this.#work.size === 1);
  readonly #work = new Map<WorkerThread, ThreadWork>();
  readonly #pace = new Pace();
  readonly #killed = new WeakSet<WorkerThread>();
  #calls: ActiveCall[] = [];
  #loads: LoadJob[] = [];
  #dispatchPlanned = false;
  #closed = false;

  constructor(setup: Omit<WorkerSetup, 'control'>, size: { min: number; max: number }, handlers: SchedulerHandlers) {
    this.#setup = setup;
    this.#size = size;
    this.#handlers = handlers;
    // One more than the minimum: a spare that takes over when a thread has to be ended.
    for (let count = 0; count < Math.min(size.min + 1, size.max); count++) this.#startThread();
  }

  load(order: LoadOrder): Promise<LoadEnd> {
    return new Promise((resolve) => {
      this.#loads.push({ order, resolve });
      this.#dispatch();
    });
  }

  enqueue(call: ActiveCall): void {
    call.state = 'queued';
    call.queuedAt = performance.now();
    this.places.add(call.cell);
    this.#calls.push(call);
    this.#planDispatch();
  }

  /** Takes a queued call out again. */
  dequeue(call: ActiveCall): void {
    const index = this.#calls.indexOf(call);
    if (index >= 0) this.#calls.splice(index, 1);
  }

  /** Asks the slice of a call to stop; the thread is ended when it does not. One that has not begun is taken back. */
  stopSlice(call: ActiveCall): 'taken back' | 'asked' {
    const { thread } = call;
    const work = thread && this.#work.get(thread);
    const item = work?.find(call);
    if (!thread || !work || !item) return 'asked';
    if (item !== work.first && work.takeBack((other) => other === item && thread.takeBack(item.index)).length > 0) {
      return 'taken back';
    }
    thread.abortSlice(item.serial);
    item.limitMs = Math.min(item.limitMs, performance.now() - work.startedAt + 150);
    return 'asked';
  }

  forgetProgram(programKey: string): void {
    this.#pace.forget(programKey);
    for (const thread of this.#threads) if (thread.hasImage(programKey)) thread.forget([programKey], []);
  }

  /** Ends threads whose slice takes too long, and starts more when all have been busy for a while. */
  watch(now: number): void {
    let saturated = this.#calls.length + this.#loads.length > 0;
    for (const thread of this.#threads) {
      const work = this.#work.get(thread);
      const elapsed = work ? now - work.startedAt : 0;
      if (elapsed < SATURATION_MS) saturated = false;
      if (!work?.first) continue;
      if (elapsed > LONG_MS && work.size > 1) this.#giveBack(thread, work);
      if (elapsed > work.first.limitMs && !this.#killed.has(thread)) {
        this.#killed.add(thread);
        void thread.terminate();
      }
    }
    if (saturated && this.#threads.size < this.#size.max) this.#startThread();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  #startThread(): void {
    const thread = new WorkerThread(this.#setup, {
      onMessage: (from, message) => this.#onMessage(from, message),
      onExit: (from, reason) => this.#onExit(from, reason),
    });
    this.#threads.add(thread);
  }

  #onMessage(thread: WorkerThread, message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        thread.idle = true;
        this.#dispatch();
        return;
      case 'parked':
        if (this.places.noteParked(message.cellId, message.delta)) this.#planDispatch();
        return;
      case 'load-slice':
      case 'call-slice': {
        const work = this.#work.get(thread);
        const item = work?.finish(message.serial, performance.now());
        if (work?.size === 0) {
          this.#work.delete(thread);
          thread.idle = true;
        }
        const job = item?.job;
        if (message.type === 'call-slice' && job && 'request' in job) this.#endSlice(thread, job, message);
        if (message.type === 'load-slice' && job && 'order' in job) {
          if (message.end.kind === 'loaded') thread.noteImage(job.order.programKey);
          job.resolve(message);
        }
        if (thread.idle) this.#dispatch();
      }
    }
  }

  #endSlice(thread: WorkerThread, call: ActiveCall, result: CallSliceResult): void {
    call.thread = undefined;
    call.start = undefined;
    this.#pace.note(call.cell.program.key, result.cpuMs);
    const stays = (result.end.kind === 'waiting' || call.keepCell) && !result.cellLost;
    this.places.endSlice(thread, call.cell, stays);
    this.#handlers.onSlice(call, result);
  }

  /** With all threads free a call starts at once; else after this turn's input, so that what came in together travels together. */
  #planDispatch(): void {
    if (this.#dispatchPlanned) return;
    this.#dispatchPlanned = true;
    const dispatch = () => {
      this.#dispatchPlanned = false;
      this.#dispatch();
    };
    if (this.#work.size === 0) queueMicrotask(dispatch);
    else setImmediate(dispatch);
  }

  #dispatch(): void {
    if (this.#closed) return;
    for (;;) {
      const load = this.#loads[0];
      const thread = load && findIdleThread(this.#threads, undefined);
      if (!load || !thread) break;
      this.#loads.shift();
      this.#startLoad(thread, load);
    }
    let skipped = 0;
    while (skipped < this.#calls.length) {
      const call = this.#calls[skipped];
      if (!call) return;
      if (this.#isWorthWaiting(call)) {
        this.#planDispatch();
        return;
      }
      const thread = this.#threadFor(call);
      if (thread === 'none idle') return;
      if (thread === 'moving') {
        skipped++;
        continue;
      }
      if (skipped === 0) this.#calls.shift();
      else this.#calls.splice(skipped, 1);
      const image = thread.hasImage(call.cell.program.key) ? undefined : this.#handlers.findImage(call.cell.program.key);
      if (!image && !thread.hasImage(call.cell.program.key)) this.#handlers.onImageMissing(call);
      else this.#startSlices(thread, [call, ...this.#takeCompanions(call, skipped)], image);
    }
  }

  /** A short call rather waits for a thread that is about to end another short one. */
  #isWorthWaiting(call: ActiveCall): boolean {
    const now = performance.now();
    for (const [thread, work] of this.#work) {
      if (this.#pace.isWorthWaiting(call, work, now) && thread.hasImage(call.cell.program.key)) return true;
    }
    return false;
  }

  #threadFor(call: ActiveCall): WorkerThread | 'none idle' | 'moving' {
    const { place } = call.cell;
    if (place.kind === 'moving') return 'moving';
    if (place.kind === 'resident') return place.thread.idle ? place.thread : 'moving';
    return findIdleThread(this.#threads, call.cell.program.key) ?? 'none idle';
  }

  /** Further short calls of the same program, as many as take about as long as waking another thread would pay for. */
  #takeCompanions(call: ActiveCall, from: number): ActiveCall[] {
    if (!this.#pace.isShort(call)) return [];
    const { key } = call.cell.program;
    const share = this.#pace.tripSize(key) - 1;
    const companions: ActiveCall[] = [];
    for (let index = from; index < this.#calls.length && companions.length < share; index++) {
      const other = this.#calls[index];
      if (!other || other.cell.program.key !== key || !this.#pace.isShort(other)) break;
      companions.push(other);
    }
    this.#calls.splice(from, companions.length);
    return companions;
  }

  #startLoad(thread: WorkerThread, job: LoadJob): void {
    this.places.moveResidentOut(thread, undefined);
    const serial = thread.runLoad(job.order);
    const item = { serial, index: 0, job, limitMs: job.order.budget.cpuMs + LOAD_GRACE_MS };
    this.#work.set(thread, new ThreadWork([item], performance.now()));
  }

  #startSlices(thread: WorkerThread, calls: readonly ActiveCall[], image: Uint8Array | undefined): void {
    const [first] = calls;
    if (!first) return;
    this.places.moveResidentOut(thread, first.cell.id);
    thread.noteImage(first.cell.program.key);
    const orders = calls.map((call, index) => orderSlice(thread, call, index === 0 ? image : undefined));
    const serials = thread.runCalls(orders);
    const items = calls.map((job, index): WorkItem => {
      const limitMs = (orders[index]?.budget ?? defaultBudget).cpuMs + GRACE_MS;
      return { serial: serials[index] ?? 0, index, job, limitMs };
    });
    this.#work.set(thread, new ThreadWork(items, performance.now()));
    const isSingle = this.#work.size === 1 && calls.length === 1 && this.#calls.length === 0;
    this.#vigil.note(isSingle && this.#pace.isShort(first));
    thread.residentCell = calls.at(-1)?.cell.id;
  }

  /** What waits behind a long slice goes to whoever is free. */
  #giveBack(thread: WorkerThread, work: ThreadWork): void {
    const taken = work.takeBack((item) => thread.takeBack(item.index));
    for (const { job } of taken) {
      if (!('request' in job)) continue;
      job.thread = undefined;
      job.cell.place = { kind: 'new' };
      job.state = 'queued';
      this.#calls.unshift(job);
    }
    if (taken.length > 0) this.#planDispatch();
  }

  #onExit(thread: WorkerThread, detail: string): void {
    const reason = this.#killed.has(thread) ? 'killed' : 'died';
    const work = this.#work.get(thread);
    this.#work.delete(thread);
    this.#threads.delete(thread);
    if (this.#closed) return;
    this.#startThread();
    // Only what ran is lost: the slices behind it had not begun.
    if (work) this.#giveBack(thread, work);
    const given = new Set(work?.all().map((item) => item.job));
    const ran = new Set([...given].flatMap((job) => ('request' in job ? [job.cell] : [])));
    for (const cell of this.places.takeLost(thread, ran)) this.#handlers.onCellLost(cell);
    for (const job of given) {
      if ('order' in job) {
        job.resolve({ type: 'lost', reason, detail });
        continue;
      }
      job.thread = undefined;
      this.#handlers.onThreadLost(job, reason, detail);
    }
  }
}
