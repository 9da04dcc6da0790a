import { hash } from 'node:crypto';
import type { BorderView } from '../../../border/border.ts';
import { EarlierAnswers } from '../../earlier-answers.ts';
import type { BaseImage } from '../cell/base-image.ts';
import { Cell, type ThrownInGuest } from '../cell/cell.ts';
import type { Reference } from '../cell/delta.ts';
import type { Instance } from '../cell/instance.ts';
import { listLazyGlobals } from '../host-answers/lazy-globals.ts';
import type {
  CallSlice,
  CallSliceResult,
  LoadSlice,
  LoadSliceResult,
  ParkedMemory,
  ParkedMessage,
  SliceEnd,
  WorkerSetup,
} from '../protocol.ts';
import { noteLook } from '../schedule/control.ts';
import { defaultBudget } from '../schedule/slice-budget.ts';
import { freeBytes } from '../suspend/free-bytes.ts';
import { SliceHost } from './slice-host.ts';

type AnswerNow = (op: string, payload: string, body: Uint8Array | undefined) => string | Uint8Array | undefined;

const BUNDLE_FILE = 'plugin.js';
/** From here on a slice is measured by the processor's clock, not by that of the wall. */
const CPU_CHECK_MS = 2;
/** Memory that grew by less is not told of. */
const TOLD_GROWTH_BYTES = 64 * 1024;
const emptyView = { config: {}, env: {}, denied: {} };

/** Runs slices in one cell. The cell's memory belongs to at most one waiting or idle owner at a time: the resident. */
export class SliceRunner {
  readonly #base: BaseImage;
  readonly #answerNow: AnswerNow;
  readonly #control: Int32Array;
  readonly #makeInstance: () => Promise<Instance>;
  readonly #post: (message: ParkedMessage, transfer: ArrayBuffer[]) => void;
  readonly #onLook: (nowMs: number) => void;
  readonly #images = new Map<string, Reference>();
  #cell: Cell | undefined;
  #host: SliceHost | undefined;
  #resident: { readonly cellId: number; readonly image: Reference } | undefined;
  #lastProgramKey = '';
  /** What the memory of the cell equals since it was restored ahead of its next call. */
  #restored: Reference | undefined;
  #serial = 0;
  #deadline = Number.POSITIVE_INFINITY;
  #cpuBudgetMs = 0;
  #startedAt = 0;
  #cpuStart: { readonly cpuMs: number; readonly atMs: number } | undefined;
  #memoryBytes = 0;
  #stopped: 'cpu' | 'memory' | 'abort' | undefined;

  constructor(
    setup: WorkerSetup,
    parts: {
      makeInstance: () => Promise<Instance>;
      answerNow: AnswerNow;
      post: (message: ParkedMessage, transfer: ArrayBuffer[]) => void;
      /** Hears that the slice looked at the clock, as performance.now() tells. */
      onLook: (nowMs: number) => void;
    },
  ) {
    const { bytes, top } = setup.base.reference;
    // A Buffer crosses to another thread as a plain Uint8Array.
    this.#base = {
      header: setup.base.header,
      reference: { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), top },
    };
    this.#control = new Int32Array(setup.control);
    this.#makeInstance = parts.makeInstance;
    this.#answerNow = parts.answerNow;
    this.#post = parts.post;
    this.#onLook = parts.onLook;
  }

  /** True when the next slice must not start in the present cell. One that only grew waits until its resident is out. */
  needsCell(): boolean {
    if (!this.#cell || this.#cell.broken) return true;
    return this.#resident === undefined && this.#cell.isWornOut();
  }

  /** Makes a sound cell ready; returns how many bytes the guest had in the memory that was given up for it. */
  async prepare(): Promise<number> {
    if (!this.needsCell()) return 0;
    const discardedBytes = this.#cell?.heapBytes() ?? 0;
    this.#resident = undefined;
    this.#restored = undefined;
    const instance = await this.#makeInstance();
    this.#cell = new Cell(instance, this.#base, {
      host: (op, id, readPayload, readBody) => this.#host?.answer(op, id, readPayload, readBody),
      interrupt: () => this.#shouldStop(),
    });
    return discardedBytes;
  }

  forget(programKeys: readonly string[], cellIds: readonly number[]): void {
    for (const key of programKeys) this.#images.delete(key);
    if (this.#resident && cellIds.includes(this.#resident.cellId)) this.#resident = undefined;
  }

  /** Moves the memory of a cell out, if it lies here. */
  park(cellId: number, file: string | undefined): void {
    if (this.#resident?.cellId === cellId) this.#moveOut(undefined, file);
  }

  /** True when the next slice must not start in the present cell, although its resident was sound: another's memory is to be put in. */
  mustChangeCell(cellId: number): boolean {
    if (this.#resident === undefined || this.#resident.cellId === cellId) return this.needsCell();
    if (this.#cell?.isWornOut()) this.#moveOut(cellId);
    return this.needsCell();
  }

  load(slice: LoadSlice): LoadSliceResult {
    const cell = this.#takeCell();
    this.#moveOut(undefined);
    this.#restored = undefined;
    cell.restore(this.#base.reference);
    cell.setLimits(slice.budget);
    const host = this.#begin(slice, { pending: 0, view: emptyView, loading: true });
    const thrown =
      cell.evaluate(slice.code, BUNDLE_FILE) ??
      cell.evaluate(touchLazyGlobals(slice.code), 'prelude.js') ??
      cell.call('load', slice.fileBase) ??
      cell.runJobs(() => this.#shouldStop());
    const end = this.#endOf(host, thrown);
    this.#host = undefined;
    const answer = { type: 'load-slice', serial: slice.serial, logs: host.logs } as const;
    if (host.report?.kind !== 'loaded' || end.kind === 'stopped') {
      return { ...answer, end: end.kind === 'waiting' || end.kind === 'return' ? { kind: 'never-settles' } : end };
    }
    if (cell.broken)
      return { ...answer, end: { kind: 'throw', report: { message: 'The sandbox failed while the plugin was loaded.' } } };
    const image = cell.encodeDelta(this.#base.reference);
    const programKey = slice.isRebuild ? slice.programKey : keyOfImage(slice.programKey, image);
    return { ...answer, end: { kind: 'loaded', exportedJson: host.report.text, image, programKey } };
  }

  call(slice: CallSlice): CallSliceResult {
    const cell = this.#takeCell();
    this.#enterCell(cell, slice);
    const { budget = defaultBudget } = slice;
    cell.setLimits(budget);
    const facts = { ...slice, view: slice.view ?? emptyView, loading: false };
    const host = this.#begin({ serial: slice.serial, budget }, facts);
    const thrown = this.#deliver(cell, slice) ?? cell.runJobs(() => host.report !== undefined || this.#shouldStop());
    const end = this.#endOf(host, thrown);
    const over = end.kind !== 'waiting';
    if (over && slice.keep && end.kind !== 'stopped') cell.call('endCall');
    this.#host = undefined;
    cell.checkStack();
    if (end.kind === 'stopped' || isExhausted(end)) cell.broken = true;
    // A cell that grew is kept while its call waits or its owner lives on: its memory is moved out like any other.
    if (over && (!slice.keep || cell.broken)) this.#resident = undefined;
    return {
      type: 'call-slice',
      serial: slice.serial,
      end,
      ...unlessEmpty(over ? 'abandoned' : 'questions', host.questions),
      ...unlessEmpty('logs', host.logs),
      ...unlessEmpty('progress', host.progress),
      ...unlessEmpty('crossings', host.crossings),
      crossingsDropped: host.crossingsDropped,
      ...unlessEmpty('deniedNames', host.deniedNames),
      ...unlessEmpty('cancelled', host.cancelled),
      hostCalls: host.hostCalls,
      cpuMs: this.#usedCpuMs(),
      ...(this.#resident && cell.grownBytes() > TOLD_GROWTH_BYTES && { grownBytes: cell.grownBytes() }),
      cellLost: cell.broken,
    };
  }

  /** Makes a brand-new sandbox of the program that ran last, while nobody waits for it. */
  restoreAhead(): void {
    const image = this.#images.get(this.#lastProgramKey);
    if (!image || !this.#cell || this.#resident || this.#restored || this.needsCell()) return;
    this.#cell.restore(image);
    this.#restored = image;
  }

  #takeCell(): Cell {
    if (!this.#cell) throw new Error('prepare() was not called');
    return this.#cell;
  }

  /** Puts the memory into the state in which the slice starts. */
  #enterCell(cell: Cell, slice: CallSlice): void {
    if (this.#resident?.cellId === slice.cellId) return;
    this.#moveOut(slice.cellId);
    const image = this.#findImage(slice, cell);
    if (this.#restored !== image) cell.restore(image);
    this.#restored = undefined;
    this.#lastProgramKey = slice.programKey;
    if (slice.deltaFile !== undefined) cell.takeStoredDelta(slice.deltaFile);
    if (slice.delta) {
      cell.applyDelta(slice.delta);
      freeBytes(slice.delta);
    }
    this.#resident = { cellId: slice.cellId, image };
  }

  /** Moves the resident out, so that nothing is lost if this thread is ended during the next slice. */
  #moveOut(nextCellId: number | undefined, file?: string): void {
    const resident = this.#resident;
    if (!resident || resident.cellId === nextCellId || !this.#cell) return;
    const memory = file === undefined ? park(this.#cell, resident.image) : store(this.#cell, resident.image, file);
    this.#resident = undefined;
    const transfer = memory.kind === 'parked' && memory.delta.buffer instanceof ArrayBuffer ? [memory.delta.buffer] : [];
    this.#post({ type: 'parked', cellId: resident.cellId, memory }, transfer);
  }

  #findImage(slice: CallSlice, cell: Cell): Reference {
    const known = this.#images.get(slice.programKey);
    if (known) return known;
    if (!slice.image) throw new Error(`the image of ${slice.programKey} is missing`);
    cell.restore(this.#base.reference);
    cell.applyDelta(slice.image);
    const image = cell.freeze();
    this.#images.set(slice.programKey, image);
    return image;
  }

  #begin(
    slice: Pick<LoadSlice, 'serial' | 'budget'>,
    facts: Pick<CallSlice, 'pending' | 'earlier'> & { readonly view: BorderView; readonly loading: boolean },
  ): SliceHost {
    this.#serial = slice.serial;
    this.#stopped = undefined;
    this.#memoryBytes = slice.budget.memoryBytes;
    this.#cpuBudgetMs = slice.budget.cpuMs;
    this.#startedAt = performance.now();
    this.#cpuStart = undefined;
    this.#deadline = this.#startedAt + Math.min(slice.budget.cpuMs, CPU_CHECK_MS);
    const { pending, view, loading, earlier } = facts;
    this.#host = new SliceHost({
      budget: slice.budget,
      view,
      pending,
      loading,
      earlier: earlier && new EarlierAnswers(earlier),
      isStopped: () => this.#shouldStop(),
      answerNow: this.#answerNow,
    });
    return this.#host;
  }

  #deliver(cell: Cell, slice: CallSlice): ThrownInGuest | undefined {
    const { start } = slice;
    if (start) {
      const thrown = start.hook
        ? cell.call('runHook', start.hook, start.argumentsJson, start.factsJson)
        : cell.call('enter', start.argumentsJson, start.factsJson, start.handler);
      if (thrown) return thrown;
    }
    for (const { id, answer } of slice.answers ?? []) {
      const thrown = answer.ok
        ? cell.call('settle', id, true, answer.payload, answer.body)
        : cell.call('settle', id, false, JSON.stringify({ code: answer.code, message: answer.message }));
      if (thrown) return thrown;
      const jobs = cell.runJobs(() => this.#host?.report !== undefined || this.#shouldStop());
      if (jobs) return jobs;
    }
    return undefined;
  }

  #endOf(host: SliceHost, thrown: ThrownInGuest | undefined): SliceEnd {
    if (!thrown) this.#checkMemory();
    if (this.#stopped) return { kind: 'stopped', reason: this.#stopped };
    const { report } = host;
    if (report?.kind === 'return') return { kind: 'return', text: report.text };
    if (report?.kind === 'throw') return report;
    if (thrown) return { kind: 'throw', report: thrown };
    return host.pending + host.questions.length > 0 ? { kind: 'waiting' } : { kind: 'never-settles' };
  }

  /** Asked by the engine every few thousand steps of the guest; the clock of the wall is cheap, that of the processor is exact. */
  #shouldStop(): boolean {
    noteLook(this.#control);
    if (this.#stopped) return true;
    if (Atomics.load(this.#control, 0) === this.#serial) {
      this.#stopped = 'abort';
      return true;
    }
    if (this.#checkMemory()) return true;
    const now = performance.now();
    this.#onLook(now);
    if (now < this.#deadline) return false;
    const left = this.#cpuBudgetMs - this.#usedCpuMs();
    if (left <= 0) {
      this.#stopped = 'cpu';
      return true;
    }
    this.#deadline = now + Math.max(left, 1);
    return false;
  }

  /** The limit of the engine itself counts single allocations only: this build of its allocator cannot tell their sizes. */
  #checkMemory(): boolean {
    if (this.#cell && this.#cell.heapBytes() > this.#memoryBytes) this.#stopped ??= 'memory';
    return this.#stopped !== undefined;
  }

  /** A short slice is taken to have had the processor all the time: asking the system twice would double its cost. */
  #usedCpuMs(): number {
    const now = performance.now();
    if (!this.#cpuStart) {
      if (now - this.#startedAt >= CPU_CHECK_MS) this.#cpuStart = { cpuMs: threadCpuMs(), atMs: now - this.#startedAt };
      return now - this.#startedAt;
    }
    return this.#cpuStart.atMs + threadCpuMs() - this.#cpuStart.cpuMs;
  }
}

function park(cell: Cell, image: Reference): ParkedMemory {
  return { kind: 'parked', delta: cell.encodeDelta(image) };
}

function store(cell: Cell, image: Reference, file: string): ParkedMemory {
  try {
    return { kind: 'stored', file, bytes: cell.storeDelta(image, file) };
  } catch (error) {
    return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) };
  }
}

function unlessEmpty<Name extends string, Item>(name: Name, list: readonly Item[]): { [Key in Name]?: readonly Item[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [Key in Name]: readonly Item[] });
}

/** Parts of the web API that the code names are made before the freeze: a call would pay for them every time. */
function touchLazyGlobals(code: string): string {
  return listLazyGlobals(code)
    .map((name) => `void globalThis.${name};`)
    .join('');
}

/** Out of memory leaves the allocator in a state that nobody should build on. */
function isExhausted(end: SliceEnd): boolean {
  return end.kind === 'throw' && /out of memory/.test(end.report.message);
}

function threadCpuMs(): number {
  const usage = process.threadCpuUsage();
  return (usage.user + usage.system) / 1000;
}

/**
 * The same code need not come to the same memory: it may read the clock while it loads. What waits is kept as its difference to
 * the very image from which it began, so another image is another program.
 */
function keyOfImage(codeKey: string, image: Uint8Array): string {
  return `${codeKey}:${hash('sha256', image, 'hex').slice(0, 16)}`;
}
