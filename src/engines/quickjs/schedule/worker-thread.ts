import { Worker } from 'node:worker_threads';
import { codeCacheEnvironment } from '../../../config/code-cache.ts';
import { bell, MAILBOX_BYTES, MainMailbox } from '../mailbox.ts';
import { packSlices, unpackResult } from '../packed-messages.ts';
import type { CallSlice, FromWorker, LoadSlice, PackedFromWorker, PackedResult, ToWorker, WorkerSetup } from '../protocol.ts';
import { CONTROL_BYTES, readLooks, resetClaims, takeSliceBack } from './control.ts';

/** Images that a worker keeps ready; each takes about a megabyte. */
const maxImages = 32;
/** What it may let go of waits so long, and for so many, since each message wakes the thread. */
const FORGET_MS = 50;
const maxForgotten = 8;
const workerFile = new URL(import.meta.url.endsWith('.ts') ? '../worker/worker.ts' : '../worker/worker.js', import.meta.url);

/** A slice as the scheduler hands it over: serial numbers belong to the thread. */
export type SliceOrder = Omit<CallSlice, 'serial'>;

/** What a thread is started with, but for the memory that it shares. */
export type ThreadSetup = Omit<WorkerSetup, 'control' | 'mailbox'>;

/** Who hears of a thread. */
export interface ThreadHandlers {
  readonly onMessage: (thread: WorkerThread, message: FromWorker) => void;
  readonly onExit: (thread: WorkerThread, reason: string) => void;
}

/** Where a scheduler gets its threads. */
export type OpenThread = (setup: ThreadSetup, handlers: ThreadHandlers) => WorkerThread;

/** One worker thread and what the main thread knows of it. */
export class WorkerThread {
  #state: 'starting' | 'idle' | 'busy' | 'ending' = 'starting';
  /** The cell whose memory lies in the thread. */
  residentCell: number | undefined;
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #control: Int32Array;
  readonly #mailbox: MainMailbox;
  readonly #onEnd: (end: PackedResult) => void;
  readonly #images = new Map<string, true>();
  /** Images that the thread has and will not need, and is not told of yet. */
  readonly #forgotten = new Set<string>();
  #forgetting: NodeJS.Timeout | undefined;
  #serial = 0;
  #endingSince = Number.POSITIVE_INFINITY;

  constructor(setup: ThreadSetup, handlers: ThreadHandlers) {
    const control = new SharedArrayBuffer(CONTROL_BYTES);
    this.#control = new Int32Array(control);
    const mailbox = new SharedArrayBuffer(MAILBOX_BYTES);
    this.#mailbox = new MainMailbox(mailbox, () => this.#worker.postMessage(bell));
    this.#onEnd = (end) => handlers.onMessage(this, unpackResult(end));
    this.#worker = new Worker(workerFile, {
      workerData: { ...setup, control, mailbox } satisfies WorkerSetup,
      // A deep guest stack must never meet the end of the host's: an exception of the host inside WebAssembly leaks C stack.
      resourceLimits: { stackSizeMb: 64 },
      env: codeCacheEnvironment(),
      stdout: false,
      stderr: false,
    });
    let failure = 'the thread ended';
    this.ready = new Promise((resolve) => {
      this.#worker.on('message', (packed: PackedFromWorker | typeof bell) => {
        if (packed === bell) {
          this.sleep();
          return;
        }
        const message = 'type' in packed ? packed : unpackResult(packed);
        if (message.type === 'ready') resolve();
        handlers.onMessage(this, message);
      });
      this.#worker.on('exit', () => {
        resolve();
        this.takeEnds();
        handlers.onExit(this, failure);
      });
    });
    this.#worker.on('error', (error) => {
      failure = error instanceof Error ? error.message : String(error);
    });
  }

  /** It is ready and has no work. */
  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  /** It was told to end: what it still answers counts, but it gets nothing more. */
  get isEnding(): boolean {
    return this.#state === 'ending';
  }

  /** When it was told to end, as performance.now() tells. */
  get endingSince(): number {
    return this.#endingSince;
  }

  /** It is ready, or done with its work. */
  rest(): void {
    if (this.#state !== 'ending') this.#state = 'idle';
  }

  /** Starts slices of calls one after the other; the thread must be idle. Returns their serial numbers. */
  runCalls(orders: readonly SliceOrder[]): number[] {
    this.#state = 'busy';
    resetClaims(this.#control);
    const slices = orders.map((order) => ({ ...order, serial: ++this.#serial }));
    const moved = slices.flatMap(({ delta }) => (delta?.buffer instanceof ArrayBuffer ? [delta.buffer] : []));
    const packed = packSlices(slices);
    if (packed === undefined || !this.#mailbox.send(packed)) this.#post(packed ?? { type: 'calls', slices }, moved);
    return slices.map((slice) => slice.serial);
  }

  /** Starts a load; the thread must be idle. Returns its serial number. */
  runLoad(order: LoadOrder): number {
    this.#state = 'busy';
    this.#serial++;
    this.#post({ type: 'load', ...order, serial: this.#serial });
    return this.#serial;
  }

  /** True when the slice with this place in the last message had not begun, and never will. */
  takeBack(index: number): boolean {
    return takeSliceBack(this.#control, index);
  }

  /** True when the thread has the image of a program. */
  hasImage(programKey: string): boolean {
    return this.#images.has(programKey);
  }

  /** Notes that the thread has (or now gets) an image; the one unused for longest is forgotten. */
  noteImage(programKey: string): void {
    this.#images.delete(programKey);
    this.#images.set(programKey, true);
    this.#forgotten.delete(programKey);
    if (this.#images.size <= maxImages) return;
    const [oldest] = this.#images.keys();
    if (oldest === undefined) return;
    this.forgetImage(oldest);
  }

  /** The image of a program is not needed any more. */
  forgetImage(programKey: string): void {
    if (!this.#images.delete(programKey)) return;
    this.#forgotten.add(programKey);
    if (this.#forgotten.size >= maxForgotten) this.#tellForgotten();
    else this.#forgetting ??= setTimeout(() => this.#tellForgotten(), FORGET_MS).unref();
  }

  #tellForgotten(): void {
    clearTimeout(this.#forgetting);
    this.#forgetting = undefined;
    if (this.#forgotten.size > 0) this.#post({ type: 'forget', programKeys: [...this.#forgotten], cellIds: [] });
    this.#forgotten.clear();
  }

  /** The memory of a cell that lies in the thread is given up. */
  forgetCell(cellId: number): void {
    this.#post({ type: 'forget', programKeys: [], cellIds: [cellId] });
  }

  /** Asks for the memory of the cell that lies in the idle thread, or to put it into a file. */
  park(cellId: number, file: string | undefined): void {
    this.#post({ type: 'park', cellId, ...(file !== undefined && { file }) });
  }

  /** The thread need not ring for the ends of calls: they are taken as they come. */
  stayAwake(): void {
    this.#mailbox.stayAwake();
  }

  /** Takes the ends of calls that are there. */
  takeEnds(): void {
    this.#mailbox.take(this.#onEnd);
  }

  /** The same, and the thread rings for those that come. */
  sleep(): void {
    this.#mailbox.takeAndSleep(this.#onEnd);
  }

  /** Asks a slice to stop at the next look at the clock. */
  abortSlice(serial: number): void {
    Atomics.store(this.#control, 0, serial);
  }

  /** Changes whenever the slice that runs has looked at the clock. */
  looks(): number {
    return readLooks(this.#control);
  }

  #post(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#mailbox.notePosted();
    this.#worker.postMessage(message, transfer);
  }

  async terminate(): Promise<void> {
    if (this.#state !== 'ending') this.#endingSince = performance.now();
    this.#state = 'ending';
    await this.#worker.terminate();
  }
}

/** A load as the scheduler queues it. */
export type LoadOrder = Omit<LoadSlice, 'serial' | 'type'>;

/** An idle thread, best one with nothing to move out and with the image at hand. */
export function findIdleThread(threads: Iterable<WorkerThread>, programKey: string | undefined): WorkerThread | undefined {
  let best: WorkerThread | undefined;
  let bestScore = -1;
  for (const thread of threads) {
    if (!thread.isIdle) continue;
    const score = (thread.residentCell === undefined ? 2 : 0) + (programKey !== undefined && thread.hasImage(programKey) ? 1 : 0);
    if (score > bestScore) [best, bestScore] = [thread, score];
  }
  return best;
}
