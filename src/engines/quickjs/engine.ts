import { rmSync } from 'node:fs';
import type { BorderAnswer, BorderHost } from '../../border/border.ts';
import { defaultSettings } from '../../config/schema.ts';
import { loadPrelude } from '../../guests/prelude.ts';
import {
  type Engine,
  type LoadRequest,
  type LoadResult,
  noUsage,
  type RunOutcome,
  type RunRequest,
  type ScriptTraits,
} from '../engine.ts';
import type { EndReason } from '../run-end.ts';
import { describeStop, failRun, type RunEnding } from '../run-outcome.ts';
import { loadBase } from './base-store.ts';
import { describeLoss, endOfSlice, lossIn } from './call-ends.ts';
import { compileQuickJs } from './cell/instance.ts';
import {
  type CellCall,
  type CellMemory,
  createCellCall,
  describeWaiting,
  type Hook,
  holderOf,
  newCell,
  noteSlice,
  noteUnanswered,
  usageOf,
} from './cell-call.ts';
import { ImageCache } from './image-cache.ts';
import { orderLoad, readLoadResult, rebuildImage } from './load.ts';
import type { CallSliceResult } from './protocol.ts';
import { type AskedQuestion, openQuestion, takeBackQuestions } from './questions.ts';
import { CellPlaces } from './schedule/cell-places.ts';
import { KeptCells } from './schedule/kept-cells.ts';
import { Scheduler, type SchedulerHandlers } from './schedule/scheduler.ts';
import { type OpenThread, type ThreadSetup, WorkerThread } from './schedule/worker-thread.ts';
import { makeCellDir } from './suspend/cell-dir.ts';
import { freeBytes } from './suspend/free-bytes.ts';
import { fitProgram, ordinaryKey } from './suspend/resumed-program.ts';
import type { SuspendedCall } from './suspend/suspended-call.ts';
import { decodeSuspended, encodeSuspended } from './suspend/suspended-codec.ts';
import { type WaitingBounds, WaitingMemory } from './suspend/waiting-memory.ts';

/** The lowest: nothing moves to it. */
export const quickJsTraits: ScriptTraits = { carries: [], brings: 'a sandbox in WebAssembly', compiles: false };

/** How often deadlines are looked at, in ms. */
const WATCH_MS = 20;

/** Options of the QuickJS engine. */
export interface QuickJsOptions {
  /** Where the base image is cached. */
  readonly dataDir: string;
  readonly workers: { readonly min: number; readonly max: number };
  readonly waiting?: WaitingBounds;
  /** Told the key of a program whose code had to be ended with its whole thread. Must not throw. */
  readonly onKill?: (programKey: string) => void;
  /** Told when a session's or plugin's cell was lost, and why. Must not throw. */
  readonly onCellLost?: (programKey: string, reason: string) => void;
}

/** What an engine runs its cells with. */
export interface QuickJsParts {
  readonly setup: ThreadSetup;
  /** Of the base image: every image made over it carries it. */
  readonly fingerprint: Buffer;
  readonly openThread: OpenThread;
}

/** Starts the engine that runs TypeScript and JavaScript plugins in QuickJS cells; engines of one process may share parts. */
export async function createQuickJsEngine(options: QuickJsOptions, parts?: QuickJsParts): Promise<Engine> {
  return new QuickJsEngine(options, parts ?? (await loadQuickJs(options.dataDir)));
}

/** Takes what engines run with from a data folder, or makes it there. */
export async function loadQuickJs(dataDir: string): Promise<QuickJsParts> {
  const prelude = await loadPrelude(dataDir);
  const module = compileQuickJs();
  const { base, fingerprint } = await loadBase(dataDir, module, prelude);
  return {
    setup: { module, base, lazyModules: prelude.lazyModules },
    fingerprint,
    openThread: (setup, handlers) => new WorkerThread(setup, handlers),
  };
}

class QuickJsEngine implements Engine {
  readonly name = 'quickjs';
  readonly script = quickJsTraits;
  readonly #scheduler: Scheduler;
  readonly #images: ImageCache;
  readonly #kept = new KeptCells((cell) => this.#scheduler.places.drop(cell));
  readonly #calls = new Set<CellCall>();
  readonly #onKill: (programKey: string) => void;
  readonly #onKeptCellLost: (programKey: string, reason: string) => void;
  readonly #cellDir: string;
  #packing = Promise.resolve();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: QuickJsOptions, { setup, fingerprint, openThread }: QuickJsParts) {
    this.#onKill = options.onKill ?? (() => {});
    this.#onKeptCellLost = options.onCellLost ?? (() => {});
    this.#images = new ImageCache(fingerprint, (program) => rebuildImage(program, (order) => this.#scheduler.load(order)));
    this.#cellDir = makeCellDir(options.dataDir);
    const places = new CellPlaces(new WaitingMemory(options.waiting ?? defaultSettings.waiting), this.#cellDir);
    const handlers: SchedulerHandlers = {
      onSlice: (call, result) => this.#onSlice(call, result),
      onThreadLost: (call, reason, detail) => this.#onThreadLost(call, reason, detail),
      onCellLost: (cell, reason) => this.#onCellLost(cell, reason),
      onImageMissing: (call) => this.#fetchImage(call),
      findImage: (key) => this.#images.peek(key),
    };
    this.#scheduler = new Scheduler((threadHandlers) => openThread(setup, threadHandlers), {
      size: options.workers,
      places,
      handlers,
    });
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    this.#startWatch();
    const result = await this.#scheduler.load(orderLoad(request));
    if (result.type === 'lost' && result.reason === 'killed') this.#onKill(request.key);
    return readLoadResult(result, request, (image) => this.#images.sign(image));
  }

  async run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    if (request.isolation === 'call') return this.#runIn(newCell(request.program), request, host, signal);
    await this.#handOver(request, host);
    const cell = this.#kept.take(request.cellKey, () => newCell(request.program));
    if (request.isolation === 'session') cell.ownerId = holderOf(request).callerId;
    const superfluous = this.#kept.findSuperfluous();
    if (superfluous) this.#loseKept(superfluous, 'many other cells were used after it');
    const loss = this.#kept.takeLoss(request.cellKey);
    if (loss !== undefined) host.warn?.(describeLoss(request.isolation, loss));
    return this.#runIn(cell, request, host, signal);
  }

  /** One after the other: each takes its memory several times over while it is packed. */
  suspend(executionId: string): Promise<Uint8Array | undefined> {
    const packed = this.#packing.then(() => this.#pack(executionId));
    this.#packing = packed.then(
      () => {},
      () => {},
    );
    return packed;
  }

  async #pack(executionId: string): Promise<Uint8Array | undefined> {
    const call = [...this.#calls].find(({ request, isHook }) => request.executionId === executionId && !isHook);
    if (call?.state !== 'waiting') return undefined;
    const { program } = call.cell;
    // Described now: by the time its memory is here an answer may have come, which that memory knows nothing of.
    const described = describeWaiting(call, performance.now());
    const delta = this.#scheduler.places.takeOut(call.cell);
    const image = this.#images.peek(program.key) ?? (await this.#images.fetch(program));
    const memory = await delta;
    // Gone on to a thread in the meantime: it does not wait any more.
    if (memory === undefined || memory.length === 0) return undefined;
    const packed = encodeSuspended({ ...described, base: this.#images.fingerprint.toString('hex'), image, delta: memory });
    if (call.cell.place.kind !== 'parked') await packed.finally(() => freeBytes(memory));
    return packed;
  }

  async resume(request: RunRequest, suspended: Uint8Array, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    const resumed = await decodeSuspended(suspended);
    const cell = newCell(await fitProgram(request.program, resumed, this.#images));
    this.#scheduler.places.takeIn(cell, holderOf(request), resumed.delta);
    if (request.isolation !== 'call') this.#kept.put(request.cellKey, cell);
    return this.#runIn(cell, request, host, signal, resumed);
  }

  #runIn(
    cell: CellMemory,
    request: RunRequest,
    host: BorderHost,
    signal: AbortSignal,
    resumed?: SuspendedCall,
  ): Promise<RunOutcome> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve({ ...describeStop('cancelled', request.limits), usage: noUsage });
        return;
      }
      const cancel = () => this.#endFromOutside(call, 'cancelled');
      signal.addEventListener('abort', cancel, { once: true });
      const finish = (outcome: RunOutcome) => {
        signal.removeEventListener('abort', cancel);
        resolve(outcome);
      };
      const hook: Hook | undefined = request.hook && { name: request.hook, argumentJson: '' };
      const call = createCellCall({ request, host, cell, hook, ...(resumed && { resumed }), finish });
      if (resumed) this.#goOn(call, resumed);
      else this.#start(call);
    });
  }

  discard(target: { readonly cellKey?: string; readonly programKey?: string }): void {
    if (target.cellKey !== undefined) this.#kept.drop(target.cellKey);
    if (target.programKey !== undefined) {
      this.#kept.dropProgram(target.programKey);
      this.#images.delete(target.programKey);
      this.#scheduler.forgetProgram(target.programKey);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    const stopping = failRun('interrupted', 'The daemon is stopping.', 'cancelled');
    for (const call of [...this.#calls]) this.#finish(call, stopping);
    await this.#scheduler.close();
    rmSync(this.#cellDir, { recursive: true, force: true });
  }

  /** Starts a call, or a hook, in a cell. */
  #start(call: CellCall): void {
    this.#takeIn(call);
    if (this.#images.peek(call.cell.program.key)) this.#scheduler.enqueue(call);
    else this.#fetchImage(call);
  }

  /** A suspended call waits here again. */
  #goOn(call: CellCall, { open }: SuspendedCall): void {
    this.#takeIn(call);
    this.#ask(call, open, true);
    call.host.waiting?.(true);
  }

  #takeIn(call: CellCall): void {
    this.#calls.add(call);
    call.cell.isInUse = true;
    this.#startWatch();
  }

  #fetchImage(call: CellCall): void {
    this.#images.fetch(call.cell.program).then(
      () => {
        if (call.state !== 'ended') this.#scheduler.enqueue(call);
      },
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        this.#finish(call, failRun('engine-failed', message));
      },
    );
  }

  #runHook(request: RunRequest, host: BorderHost, cell: CellMemory, hook: Hook): Promise<RunOutcome> {
    return new Promise((resolve) => {
      this.#start(createCellCall({ request, host, cell, hook, finish: resolve }));
    });
  }

  /** A session or plugin cell of an older generation hands its JSON state to the cell that takes its place. */
  async #handOver(request: RunRequest, host: BorderHost): Promise<void> {
    const old = this.#kept.find(request.cellKey);
    if (!old || ordinaryKey(old.program.key) === request.program.key) return;
    const given = request.handOver ? await this.#runHook(request, host, old, { name: 'onReload', argumentJson: '' }) : undefined;
    this.#kept.drop(request.cellKey);
    if (given?.status !== 'success') return;
    const cell = this.#kept.take(request.cellKey, () => newCell(request.program));
    await this.#runHook(request, host, cell, { name: 'onReload', argumentJson: given.outputJson ?? 'null' });
  }

  #onSlice(call: CellCall, result: CallSliceResult): void {
    noteSlice(call, result);
    if (result.cellLost) this.#loseKept(call.cell, lossIn(result));
    if (call.ending) {
      this.#finish(call, call.ending);
      return;
    }
    const end = endOfSlice(call, result);
    if (end) this.#finish(call, end);
    else this.#wait(call, result);
  }

  /** The call is suspended: its questions are answered one by one, and each answer makes it runnable again. */
  #wait(call: CellCall, result: CallSliceResult): void {
    takeBackQuestions(call, result);
    this.#ask(call, result.questions ?? [], false);
    if (call.answers.length > 0) this.#scheduler.enqueue(call);
    else call.host.waiting?.(true);
  }

  #ask(call: CellCall, questions: readonly AskedQuestion[], isAgain: boolean): void {
    call.state = 'waiting';
    for (const question of questions) {
      const deliver = (answer: BorderAnswer) => {
        if (!call.open.delete(question.id) || call.state === 'ended') return;
        call.recorder.add({ id: question.id, op: question.op, payload: question.payload, answer });
        call.answers.push({ id: question.id, answer });
        if (call.state === 'waiting') this.#wake(call);
      };
      call.open.set(question.id, openQuestion(question, call, deliver, isAgain));
    }
  }

  #wake(call: CellCall): void {
    call.host.waiting?.(false);
    this.#scheduler.enqueue(call);
  }

  #endFromOutside(call: CellCall, reason: EndReason): void {
    if (call.state === 'ended' || call.ending) return;
    const end = describeStop(reason, call.request.limits);
    if (call.state === 'running') {
      call.ending = end;
      if (this.#scheduler.stopSlice(call) === 'asked') return;
    }
    this.#scheduler.dequeue(call);
    this.#finish(call, end);
    const hasBegun = call.start === undefined;
    // The handler of a kept cell was left in the middle: its state cannot be trusted any more.
    if (hasBegun) this.#loseKept(call.cell, `a call in it ended as ${end.error.code}`);
    if (hasBegun || !call.keepCell) this.#scheduler.places.drop(call.cell);
  }

  #onThreadLost(call: CellCall, reason: 'killed' | 'died', detail: string): void {
    this.#loseKept(call.cell, `its thread ${reason === 'killed' ? 'had to be ended' : 'died'} while a call ran in it`);
    // Whoever cancels a call in the middle does not get its plugin into disrepute.
    if (reason === 'killed' && !call.ending && !call.request.earlier) this.#onKill(call.request.program.key);
    const lost =
      reason === 'killed' ? describeStop('cpu', call.request.limits) : failRun('engine-failed', `The sandbox ended: ${detail}.`);
    this.#finish(call, call.ending ?? lost);
  }

  #onCellLost(cell: CellMemory, reason: string): void {
    const isKept = this.#loseKept(cell, reason);
    for (const call of this.#calls) {
      if (call.cell !== cell) continue;
      if (isKept && call.start !== undefined) {
        this.#beginAnew(call, reason);
        continue;
      }
      this.#scheduler.dequeue(call);
      this.#finish(call, failRun('engine-failed', `The sandbox of the waiting call was lost: ${reason}.`));
    }
  }

  /** A call that had not begun when the cell was lost in which it was to run. */
  #beginAnew(call: CellCall, reason: string): void {
    const { cellKey, isolation } = call.request;
    this.#kept.takeLoss(cellKey);
    this.#kept.put(cellKey, call.cell);
    call.cell.place = { kind: 'new' };
    this.#scheduler.places.add(call.cell);
    call.host.warn?.(describeLoss(isolation, reason));
  }

  #loseKept(cell: CellMemory, reason: string): boolean {
    const isKept = this.#kept.lose(cell, reason);
    if (isKept) this.#onKeptCellLost(ordinaryKey(cell.program.key), reason);
    return isKept;
  }

  #finish(call: CellCall, end: RunEnding): void {
    if (call.state === 'ended') return;
    call.state = 'ended';
    call.cell.isInUse = false;
    this.#calls.delete(call);
    for (const question of call.open.values()) question.cancel();
    noteUnanswered(call);
    call.open.clear();
    call.finish({ ...end, recording: call.recorder.recording(), usage: usageOf(call) });
  }

  #startWatch(): void {
    if (this.#watch) return;
    this.#watch = setInterval(() => {
      for (const call of this.#calls) {
        if (call.request.deadline.isOver()) this.#endFromOutside(call, 'deadline');
      }
      this.#scheduler.watch(performance.now());
    }, WATCH_MS);
    this.#watch.unref();
  }
}
