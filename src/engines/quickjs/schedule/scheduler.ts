import { type Candidacy, createFairQueue } from '../../../concurrency/fair-queue.ts';
import { createLoopWaker } from '../../event-loop-waker.ts';
import type { CellCall, CellMemory } from '../cell-call.ts';
import type { LoadEnd } from '../load.ts';
import type { CallSliceResult, FromWorker, ParkedMessage } from '../protocol.ts';
import type { CellPlaces } from './cell-places.ts';
import { Pace } from './pace.ts';
import { defaultBudget } from './slice-budget.ts';
import { orderSlice } from './slice-order.ts';
import { type LoadJob, ThreadWork, type WorkItem } from './thread-work.ts';
import { findIdleThread, type LoadOrder, type ThreadHandlers, type WorkerThread } from './worker-thread.ts';

/** A slice may take this much longer than its time on the processor before its thread is ended. */
const GRACE_MS = 500;
/** Loading is bounded like a call; the thread that does not come back is ended. */
const LOAD_GRACE_MS = 500;
/** A slice that was asked to stop looks at the clock within this time, or its thread is ended. */
const STOP_MS = 500;
/** A thread that was told to end and is not gone by then is replaced: what runs in it is native code, which nothing interrupts. */
const END_MS = 250;
/** So many threads may be on their way out like that; beyond it the next one is replaced when it is gone. */
const maxLingering = 8;
/** All threads busy for this long: another one is started, up to the maximum. */
const SATURATION_MS = 30;
/** A slice that turns out longer than this gives back the ones behind it. */
const LONG_MS = 5;

/** What the engine does with what the threads report. */
export interface SchedulerHandlers {
  readonly onSlice: (call: CellCall, result: CallSliceResult) => void;
  /** The thread under a running call was ended or died. */
  readonly onThreadLost: (call: CellCall, reason: 'killed' | 'died', detail: string) => void;
  /** The memory of a waiting call or an idle cell went down with a thread. */
  readonly onCellLost: (cell: CellMemory, reason: string) => void;
  readonly findImage: (programKey: string) => Uint8Array | undefined;
  /** The image was dropped while the call waited: fetch it, then enqueue the call again. */
  readonly onImageMissing: (call: CellCall) => void;
}

/**
 * Hands slices to worker threads: loads first, then calls in fair turns over callers and their plugins. A slice cannot be put
 * aside in its middle, so beyond the maximum of threads there is one more that nobody gets who holds all the others.
 */
export class Scheduler {
  /** Where the cells of calls lie. */
  readonly places: CellPlaces;
  readonly #openThread: (handlers: ThreadHandlers) => WorkerThread;
  readonly #size: { readonly min: number; readonly max: number };
  readonly #handlers: SchedulerHandlers;
  readonly #threads = new Set<WorkerThread>();
  /** Told to end, not gone yet, and replaced already. */
  readonly #lingering = new Set<WorkerThread>();
  readonly #loopWaker = createLoopWaker({
    isAwaited: () => this.#work.size === 1,
    begin: () => {
      for (const thread of this.#threads) thread.stayAwake();
    },
    look: () => {
      for (const thread of this.#threads) thread.takeEnds();
    },
    end: () => {
      for (const thread of this.#threads) thread.sleep();
    },
  });
  readonly #work = new Map<WorkerThread, ThreadWork>();
  readonly #pace = new Pace();
  readonly #calls = createFairQueue<CellCall>();
  #loads: LoadJob[] = [];
  #dispatchPlanned = false;
  #closed = false;

  constructor(
    openThread: (handlers: ThreadHandlers) => WorkerThread,
    parts: { size: { min: number; max: number }; places: CellPlaces; handlers: SchedulerHandlers },
  ) {
    const { size } = parts;
    this.#openThread = openThread;
    this.#size = size;
    this.places = parts.places;
    this.#handlers = parts.handlers;
    // One more than the minimum: a spare that takes over when a thread has to be ended.
    for (let count = 0; count < Math.min(size.min + 1, size.max); count++) this.#startThread();
  }

  load(order: LoadOrder): Promise<LoadEnd> {
    return new Promise((resolve) => {
      this.#loads.push({ order, resolve });
      this.#dispatch();
    });
  }

  enqueue(call: CellCall): void {
    call.state = 'queued';
    call.queuedAt = performance.now();
    this.places.add(call.cell);
    call.place = this.#calls.push(call);
    this.#planDispatch();
  }

  /** Takes a queued call out again. */
  dequeue(call: CellCall): void {
    if (call.place) this.#calls.remove(call.place);
    call.place = undefined;
  }

  /** Asks the slice of a call to stop; the thread is ended when it does not. One that has not begun is taken back. */
  stopSlice(call: CellCall): 'taken back' | 'asked' {
    const { thread } = call;
    const work = thread && this.#work.get(thread);
    const item = work?.find(call);
    if (!thread || !work || !item) return 'asked';
    if (item !== work.first && work.takeBack((other) => other === item && thread.takeBack(item.index)).length > 0) {
      return 'taken back';
    }
    thread.abortSlice(item.serial);
    item.limitMs = Math.min(item.limitMs, STOP_MS);
    return 'asked';
  }

  forgetProgram(programKey: string): void {
    this.#pace.forget(programKey);
    for (const thread of this.#threads) thread.forgetImage(programKey);
  }

  /** Ends threads whose slice takes too long, and starts more when all have been busy for a while. */
  watch(now: number): void {
    let areAllBusy = true;
    for (const thread of this.#threads) {
      // A slice that does not look at the clock does not ring for those before it either.
      thread.takeEnds();
      const work = this.#work.get(thread);
      const elapsed = work ? now - work.startedAt : 0;
      if (elapsed < SATURATION_MS) areAllBusy = false;
      if (thread.isEnding) this.#replaceLate(thread, now);
      if (!work?.first || thread.isEnding) continue;
      if (elapsed > LONG_MS && work.size > 1) this.#giveBack(thread, work);
      if (work.isDeaf(thread.looks(), now)) this.#end(thread, work);
    }
    if (!areAllBusy) return;
    const isWanted = this.#calls.size() + this.#loads.length > 0 || this.#findOwner() !== undefined;
    if (isWanted && this.#threads.size <= this.#size.max) this.#startThread();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads, ...this.#lingering].map((thread) => thread.terminate()));
  }

  #startThread(): void {
    const thread = this.#openThread({
      onMessage: (from, message) => this.#onMessage(from, message),
      onExit: (from, reason) => this.#onExit(from, reason),
    });
    this.#threads.add(thread);
  }

  #onMessage(thread: WorkerThread, message: FromWorker): void {
    // Its calls have their end, and the memories in it are given up.
    if (this.#lingering.has(thread)) return;
    switch (message.type) {
      case 'ready':
        thread.rest();
        this.#dispatch();
        return;
      case 'parked':
        this.#noteParked(message);
        return;
      case 'load-slice':
      case 'call-slice': {
        // The memory of a call that waits goes down with its thread: as if it had not answered.
        if (thread.isEnding && message.type === 'call-slice' && message.end.kind === 'waiting') return;
        const work = this.#work.get(thread);
        const item = work?.finish(message.serial, performance.now());
        if (work?.size === 0) {
          this.#work.delete(thread);
          thread.rest();
        }
        const job = item?.job;
        if (message.type === 'call-slice' && job && 'request' in job) this.#endSlice(thread, job, message);
        if (message.type === 'load-slice' && job && 'order' in job) job.resolve(message);
        if (thread.isIdle) this.#dispatch();
      }
    }
  }

  #noteParked({ cellId, memory }: ParkedMessage): void {
    const cell = this.places.noteParked(cellId, memory);
    if (!cell) return;
    if (memory.kind !== 'failed') {
      this.#planDispatch();
      return;
    }
    this.places.drop(cell);
    this.#handlers.onCellLost(cell, `its memory could not be put on the disk (${memory.detail})`);
  }

  #endSlice(thread: WorkerThread, call: CellCall, result: CallSliceResult): void {
    call.thread = undefined;
    call.start = undefined;
    this.#pace.note(call.cell.program.key, result.cpuMs);
    const stays = (result.end.kind === 'waiting' || call.keepCell) && !result.cellLost;
    const hasRoom = !stays || this.places.hold(call.cell, call, result.grownBytes ?? 0);
    this.places.endSlice(thread, call.cell, stays && hasRoom);
    if (!hasRoom) thread.forgetCell(call.cell.id);
    this.#handlers.onSlice(call, hasRoom ? result : withoutRoom(result));
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
      if (!load || !thread || (this.#isLastThread() && this.#areAllLoads())) break;
      this.#loads.shift();
      this.#startLoad(thread, load);
    }
    let isPostponed = false;
    const judge = (call: CellCall): Candidacy => {
      if (this.#isWorthWaiting(call)) {
        isPostponed = true;
        return 'no';
      }
      return this.#canRun(call) ? 'yes' : 'no';
    };
    while (this.#calls.size() > 0 && findIdleThread(this.#threads, undefined)) {
      const call = this.#calls.take(judge);
      if (!call) break;
      call.place = undefined;
      const { key } = call.cell.program;
      const thread = call.cell.place.kind === 'resident' ? call.cell.place.thread : findIdleThread(this.#threads, key);
      if (!thread) break;
      const image = thread.hasImage(key) ? undefined : this.#handlers.findImage(key);
      if (!image && !thread.hasImage(key)) this.#handlers.onImageMissing(call);
      else this.#startSlices(thread, [call, ...this.#takeCompanions(call)], image);
    }
    if (isPostponed) this.#planDispatch();
  }

  /** A short call rather waits for a thread that is about to end another short one. */
  #isWorthWaiting(call: CellCall): boolean {
    const now = performance.now();
    for (const [thread, work] of this.#work) {
      if (this.#pace.isWorthWaiting(call, work, now) && thread.hasImage(call.cell.program.key)) return true;
    }
    return false;
  }

  /** True when the memory of the call is at hand and the thread that is free is not kept for others. */
  #canRun({ cell: { place }, callerId, unitPath }: CellCall): boolean {
    if (place.kind === 'moving' || (place.kind === 'resident' && !place.thread.isIdle)) return false;
    const owner = this.#isLastThread() ? this.#findOwner() : undefined;
    return owner === undefined || (owner.callerId !== callerId && owner.unitPath !== unitPath);
  }

  /** True when only the one thread beyond the maximum is free. */
  #isLastThread(): boolean {
    if (this.#threads.size <= this.#size.max) return false;
    let idle = 0;
    for (const thread of this.#threads) if (thread.isIdle) idle++;
    return idle === 1;
  }

  #areAllLoads(): boolean {
    return [...this.#work.values()].every(({ first }) => first && 'order' in first.job);
  }

  /** The caller, or the plugin, that holds all threads that are busy. */
  #findOwner(): Partial<Pick<CellCall, 'callerId' | 'unitPath'>> | undefined {
    const jobs = [...this.#work.values()].flatMap(({ first }) => (first ? [first.job] : []));
    const [one] = jobs;
    if (!one || !('request' in one)) return undefined;
    const isOne = (key: 'callerId' | 'unitPath') => jobs.every((job) => 'request' in job && job[key] === one[key]);
    const owner = {
      ...(isOne('callerId') && { callerId: one.callerId }),
      ...(isOne('unitPath') && { unitPath: one.unitPath }),
    };
    return Object.keys(owner).length > 0 ? owner : undefined;
  }

  /** Further short calls of the same program, as many as take about as long as waking another thread would pay for. */
  #takeCompanions(call: CellCall): CellCall[] {
    if (!this.#pace.isShort(call)) return [];
    const { key } = call.cell.program;
    const share = this.#pace.tripSize(key) - 1;
    const companions: CellCall[] = [];
    const judge = (other: CellCall): Candidacy => (other.cell.program.key === key && this.#pace.isShort(other) ? 'yes' : 'no');
    while (companions.length < share && this.#calls.size() > 0) {
      const companion = this.#calls.take(judge);
      if (!companion) break;
      companion.place = undefined;
      companions.push(companion);
    }
    return companions;
  }

  #startLoad(thread: WorkerThread, job: LoadJob): void {
    this.places.moveResidentOut(thread, undefined);
    const serial = thread.runLoad(job.order);
    const item = { serial, index: 0, job, limitMs: job.order.budget.cpuMs + LOAD_GRACE_MS };
    this.#work.set(thread, new ThreadWork([item], performance.now()));
  }

  #startSlices(thread: WorkerThread, calls: readonly CellCall[], image: Uint8Array | undefined): void {
    const [first] = calls;
    if (!first) return;
    this.places.moveResidentOut(thread, first.cell.id);
    thread.noteImage(first.cell.program.key);
    for (const { cell } of calls) this.places.leaveToSlice(cell);
    const orders = calls.map((call, index) => orderSlice(thread, call, index === 0 ? image : undefined));
    const serials = thread.runCalls(orders);
    const items = calls.map((job, index): WorkItem => {
      const limitMs = (orders[index]?.budget ?? defaultBudget).cpuMs + GRACE_MS;
      return { serial: serials[index] ?? 0, index, job, limitMs };
    });
    this.#work.set(thread, new ThreadWork(items, performance.now()));
    const isSingle = this.#work.size === 1 && calls.length === 1 && this.#calls.size() === 0;
    this.#loopWaker.note(isSingle && this.#pace.isShort(first));
    thread.residentCell = calls.at(-1)?.cell.id;
  }

  /** Ends the thread under a slice that does not stop; what it had not begun goes back at once. */
  #end(thread: WorkerThread, work: ThreadWork): void {
    work.culprit = work.first;
    this.#giveBack(thread, work);
    void thread.terminate();
  }

  /** Others need not wait until native code that nothing interrupts is done. */
  #replaceLate(thread: WorkerThread, now: number): void {
    if (now - thread.endingSince < END_MS || this.#lingering.size >= maxLingering) return;
    this.#lingering.add(thread);
    this.#lose(thread, 'it did not end');
  }

  /** What waits behind a long slice goes to whoever is free. */
  #giveBack(thread: WorkerThread, work: ThreadWork): void {
    for (const { job } of work.takeBack((item) => thread.takeBack(item.index)).reverse()) this.#putBack(job);
  }

  /** Puts a call that left no trace yet before the others of its plugin: it was next, or had begun beside one that took its thread down. */
  #putBack(job: WorkItem['job']): void {
    if (!('request' in job)) return;
    job.thread = undefined;
    job.cell.place = { kind: 'new' };
    job.state = 'queued';
    this.places.add(job.cell);
    job.place = this.#calls.putBack(job);
    this.#planDispatch();
  }

  #onExit(thread: WorkerThread, detail: string): void {
    if (!this.#lingering.delete(thread)) this.#lose(thread, detail);
  }

  /** A thread is gone, or given up: another takes its place, and every call that was in it gets its end or goes elsewhere. */
  #lose(thread: WorkerThread, detail: string): void {
    const work = this.#work.get(thread);
    this.#work.delete(thread);
    this.#threads.delete(thread);
    if (this.#closed) return;
    this.#startThread();
    const reason = thread.isEnding ? 'killed' : 'died';
    if (work) this.#giveBack(thread, work);
    // What ran is lost: the slice for which the thread was ended, if it did not answer after all, or on which it died.
    const lost = work?.all().find((item) => !thread.isEnding || item === work.culprit);
    // A slice that had begun behind it has answered nothing yet, so nobody saw anything of it.
    for (const item of [...(work?.all() ?? [])].reverse()) if (item !== lost) this.#putBack(item.job);
    const ran = new Set(lost && 'request' in lost.job ? [lost.job.cell] : []);
    for (const cell of this.places.takeLost(thread, ran)) this.#handlers.onCellLost(cell, 'the thread in which it lay was ended');
    this.#planDispatch();
    if (!lost) return;
    if ('order' in lost.job) {
      lost.job.resolve({ type: 'lost', reason, detail });
      return;
    }
    lost.job.thread = undefined;
    this.#handlers.onThreadLost(lost.job, reason, detail);
  }
}

/** What became of a slice after which there was no room for its memory: a call that is over has its end, one that waits is ended. */
function withoutRoom(result: CallSliceResult): CallSliceResult {
  const end = result.end.kind === 'waiting' ? ({ kind: 'stopped', reason: 'no room' } as const) : result.end;
  return { ...result, end, cellLost: true, hasNoRoom: true };
}
