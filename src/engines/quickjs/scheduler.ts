import type { ActiveCall, CellMemory } from './active-call.ts';
import { budgetOf } from './active-call.ts';
import type { LoadEnd } from './load-result.ts';
import type { CallSliceResult, FromWorker, WorkerSetup } from './protocol.ts';
import { type LoadOrder, WorkerThread } from './worker-thread.ts';

/** A slice may take this much longer than its time on the processor before its thread is ended. */
const GRACE_MS = 500;
/** Loading is bounded like a call; the thread that does not come back is ended. */
const LOAD_GRACE_MS = 500;
/** All threads busy for this long: another one is started, up to the maximum. */
const SATURATION_MS = 30;

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

interface LoadJob {
  readonly order: LoadOrder;
  readonly resolve: (result: LoadEnd) => void;
}

/** Hands slices to worker threads: loads first, then calls in the order in which they became runnable. */
export class Scheduler {
  readonly #setup: Omit<WorkerSetup, 'control'>;
  readonly #size: { readonly min: number; readonly max: number };
  readonly #handlers: SchedulerHandlers;
  readonly #threads = new Set<WorkerThread>();
  readonly #running = new Map<WorkerThread, ActiveCall | LoadJob>();
  readonly #cells = new Map<number, CellMemory>();
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

  /** Resolves when the first thread can work. */
  async whenReady(): Promise<void> {
    await Promise.race([...this.#threads].map((thread) => thread.ready));
  }

  load(order: LoadOrder): Promise<LoadEnd> {
    return new Promise((resolve) => {
      this.#loads.push({ order, resolve });
      this.#dispatch();
    });
  }

  enqueue(call: ActiveCall): void {
    call.state = 'queued';
    this.#cells.set(call.cell.id, call.cell);
    this.#calls.push(call);
    this.#planDispatch();
  }

  /** Takes a queued call out again. */
  dequeue(call: ActiveCall): void {
    const index = this.#calls.indexOf(call);
    if (index >= 0) this.#calls.splice(index, 1);
  }

  /** Nobody needs this cell any more. */
  dropCell(cell: CellMemory): void {
    this.#cells.delete(cell.id);
    if (cell.place.kind === 'resident') {
      cell.place.thread.forget([], [cell.id]);
      if (cell.place.thread.residentCell === cell.id) cell.place.thread.residentCell = undefined;
    }
  }

  /** Asks the slice of a call to stop; the thread is ended when it does not. */
  stopSlice(call: ActiveCall): void {
    const { thread } = call;
    if (!thread) return;
    thread.abortSlice();
    thread.sliceLimitMs = Math.min(thread.sliceLimitMs, performance.now() - thread.sliceStartedAt + 150);
  }

  forgetProgram(programKey: string): void {
    for (const thread of this.#threads) if (thread.hasImage(programKey)) thread.forget([programKey], []);
  }

  /** Ends threads whose slice takes too long, and starts more when all have been busy for a while. */
  watch(now: number): void {
    let saturated = this.#calls.length + this.#loads.length > 0;
    for (const thread of this.#threads) {
      const elapsed = now - thread.sliceStartedAt;
      if (!this.#running.has(thread) || elapsed < SATURATION_MS) saturated = false;
      if (this.#running.has(thread) && elapsed > thread.sliceLimitMs && !this.#killed.has(thread)) {
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
        thread.busy = false;
        this.#dispatch();
        return;
      case 'parked':
        this.#onParked(message.cellId, message.delta);
        return;
      case 'load-slice':
      case 'call-slice': {
        const job = this.#running.get(thread);
        this.#running.delete(thread);
        thread.busy = false;
        thread.sliceLimitMs = Number.POSITIVE_INFINITY;
        if (message.type === 'call-slice' && job && 'request' in job) this.#endSlice(thread, job, message);
        if (message.type === 'load-slice' && job && 'order' in job) {
          if (message.end.kind === 'loaded') thread.noteImage(job.order.programKey);
          job.resolve(message);
        }
        this.#dispatch();
      }
    }
  }

  #endSlice(thread: WorkerThread, call: ActiveCall, result: CallSliceResult): void {
    call.thread = undefined;
    const stays = (result.end.kind === 'waiting' || call.keepCell) && !result.cellLost;
    thread.residentCell = stays ? call.cell.id : undefined;
    if (stays) call.cell.place = { kind: 'resident', thread };
    else this.#cells.delete(call.cell.id);
    this.#handlers.onSlice(call, result);
  }

  #onParked(cellId: number, delta: Uint8Array): void {
    const cell = this.#cells.get(cellId);
    if (cell?.place.kind !== 'moving') return;
    cell.place = { kind: 'parked', delta };
    this.#planDispatch();
  }

  #planDispatch(): void {
    if (this.#dispatchPlanned) return;
    this.#dispatchPlanned = true;
    queueMicrotask(() => {
      this.#dispatchPlanned = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    if (this.#closed) return;
    for (;;) {
      const load = this.#loads[0];
      const thread = load && this.#findIdle(undefined);
      if (!load || !thread) break;
      this.#loads.shift();
      this.#startLoad(thread, load);
    }
    let skipped = 0;
    while (skipped < this.#calls.length) {
      const call = this.#calls[skipped];
      if (!call) return;
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
      else this.#startSlice(thread, call, image);
    }
  }

  #threadFor(call: ActiveCall): WorkerThread | 'none idle' | 'moving' {
    const { place } = call.cell;
    if (place.kind === 'moving') return 'moving';
    if (place.kind === 'resident') return place.thread.busy ? 'moving' : place.thread;
    return this.#findIdle(call.cell.program.key) ?? 'none idle';
  }

  /** An idle thread, best one with nothing to move out and with the image at hand. */
  #findIdle(programKey: string | undefined): WorkerThread | undefined {
    let best: WorkerThread | undefined;
    let bestScore = -1;
    for (const thread of this.#threads) {
      if (thread.busy) continue;
      const score =
        (thread.residentCell === undefined ? 2 : 0) + (programKey !== undefined && thread.hasImage(programKey) ? 1 : 0);
      if (score > bestScore) [best, bestScore] = [thread, score];
    }
    return best;
  }

  #startLoad(thread: WorkerThread, job: LoadJob): void {
    this.#moveResidentOut(thread, undefined);
    this.#running.set(thread, job);
    thread.run({ type: 'load', ...job.order }, job.order.budget.cpuMs + LOAD_GRACE_MS);
  }

  #startSlice(thread: WorkerThread, call: ActiveCall, image: Uint8Array | undefined): void {
    const { cell } = call;
    this.#moveResidentOut(thread, cell.id);
    const delta = cell.place.kind === 'parked' ? cell.place.delta : undefined;
    const budget = budgetOf(call);
    const { answers, start } = call;
    call.answers = [];
    call.start = undefined;
    call.state = 'running';
    call.thread = thread;
    cell.place = { kind: 'resident', thread };
    thread.residentCell = cell.id;
    thread.noteImage(cell.program.key);
    this.#running.set(thread, call);
    const view = call.host.view();
    thread.run(
      {
        type: 'call',
        cellId: cell.id,
        programKey: cell.program.key,
        image,
        delta,
        start,
        answers,
        pending: call.open.size,
        view,
        budget,
        keep: call.keepCell,
      },
      budget.cpuMs + GRACE_MS,
    );
  }

  /** The worker moves its resident out before it starts anything else; until its message is here the cell is on its way. */
  #moveResidentOut(thread: WorkerThread, nextCell: number | undefined): void {
    const { residentCell } = thread;
    if (residentCell === undefined || residentCell === nextCell) return;
    const cell = this.#cells.get(residentCell);
    if (cell) cell.place = { kind: 'moving', from: thread };
    thread.residentCell = undefined;
  }

  #onExit(thread: WorkerThread, detail: string): void {
    const reason = this.#killed.has(thread) ? 'killed' : 'died';
    const job = this.#running.get(thread);
    this.#running.delete(thread);
    this.#threads.delete(thread);
    if (this.#closed) return;
    this.#startThread();
    for (const cell of [...this.#cells.values()]) {
      const { place } = cell;
      const lost = (place.kind === 'resident' && place.thread === thread) || (place.kind === 'moving' && place.from === thread);
      if (!lost || (job && 'request' in job && job.cell === cell)) continue;
      this.#cells.delete(cell.id);
      this.#handlers.onCellLost(cell);
    }
    if (!job) return;
    if ('order' in job) {
      job.resolve({ type: 'lost', reason, detail });
      return;
    }
    job.thread = undefined;
    this.#cells.delete(job.cell.id);
    this.#handlers.onThreadLost(job, reason, detail);
  }
}
