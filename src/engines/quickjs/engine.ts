import { defaultLimits } from '../../config/limits.ts';
import type { BorderHost } from '../border.ts';
import type { Engine, GuestError, LoadRequest, LoadResult, Program, RunOutcome, RunRequest } from '../engine.ts';
import {
  type ActiveCall,
  type CellMemory,
  createActiveCall,
  createCellCounter,
  type Hook,
  recordCrossing,
  recordingOf,
  usageOf,
} from './active-call.ts';
import { loadBase } from './base-store.ts';
import { cancelled, cpuExceeded, type EndOfCall, endOverMemory, neverSettles, readOutput, wallExceeded } from './call-ends.ts';
import { compileQuickJs } from './cell/instance.ts';
import { toGuestError } from './guest-errors.ts';
import { ImageCache } from './image-cache.ts';
import { KeptCells } from './kept-cells.ts';
import { readLoadResult } from './load-result.ts';
import { loadPrelude } from './prelude.ts';
import type { CallSliceResult } from './protocol.ts';
import { noteAbandoned, openQuestion } from './questions.ts';
import { Scheduler } from './scheduler.ts';

/** How often deadlines are looked at, in ms. */
const WATCH_MS = 20;

/** Options of the QuickJS engine. */
export interface QuickJsOptions {
  /** Where the base image is cached. */
  readonly dataDir: string;
  readonly workers: { readonly min: number; readonly max: number };
  /** Told the key of a program whose code had to be ended with its whole thread. Must not throw. */
  readonly onKill?: (programKey: string) => void;
}

/** Starts the engine that runs TypeScript and JavaScript plugins in QuickJS cells. */
export async function createQuickJsEngine(options: QuickJsOptions): Promise<Engine> {
  const prelude = await loadPrelude(options.dataDir);
  const module = compileQuickJs();
  const { base, fingerprint } = await loadBase(options.dataDir, module, prelude);
  return new QuickJsEngine(options, { module, base, lazyModules: prelude.lazyModules }, fingerprint);
}

class QuickJsEngine implements Engine {
  readonly name = 'quickjs';
  readonly #scheduler: Scheduler;
  readonly #images: ImageCache;
  readonly #kept = new KeptCells((cell) => this.#scheduler.dropCell(cell));
  readonly #calls = new Set<ActiveCall>();
  readonly #onKill: (programKey: string) => void;
  readonly #newCell = createCellCounter();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: QuickJsOptions, setup: ConstructorParameters<typeof Scheduler>[0], fingerprint: Buffer) {
    this.#onKill = options.onKill ?? (() => {});
    this.#images = new ImageCache(fingerprint, (program) => this.#rebuild(program));
    this.#scheduler = new Scheduler(setup, options.workers, {
      onSlice: (call, result) => this.#onSlice(call, result),
      onThreadLost: (call, reason, detail) => this.#onThreadLost(call, reason, detail),
      onCellLost: (cell) => this.#onCellLost(cell),
      onImageMissing: (call) => this.#fetchImage(call),
      findImage: (key) => this.#images.peek(key),
    });
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    const code = typeof request.code === 'string' ? request.code : Buffer.from(request.code).toString('utf8');
    this.#startWatch();
    const result = await this.#scheduler.load({
      programKey: request.key,
      code,
      fileBase: baseName(request.label),
      budget: { ...request.limits, pendingHostBytes: 0 },
    });
    if (result.type === 'lost' && result.reason === 'killed') this.#onKill(request.key);
    return readLoadResult(result, request, (image) => this.#images.put(request.key, image));
  }

  async run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    if (request.isolation === 'call') return this.#runIn(this.#newCell(request.program), request, host, signal);
    await this.#handOver(request, host);
    const cell = this.#kept.take(request.cellKey, () => this.#newCell(request.program));
    return this.#runIn(cell, request, host, signal);
  }

  #runIn(cell: CellMemory, request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve({ status: 'cancelled', error: cancelled, usage: { cpuMs: 0, hostCalls: 0, logLines: 0 } });
        return;
      }
      const cancel = () => this.#endFromOutside(call, 'cancelled', cancelled);
      signal.addEventListener('abort', cancel, { once: true });
      const call = this.#start(request, host, cell, undefined, (outcome) => {
        signal.removeEventListener('abort', cancel);
        resolve(outcome);
      });
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
    const error: GuestError = { code: 'interrupted', message: 'The daemon is stopping.', frames: [] };
    for (const call of [...this.#calls]) this.#finish(call, { status: 'cancelled', error });
    await this.#scheduler.close();
  }

  /** Starts a call, or a hook, in a cell. */
  #start(
    request: RunRequest,
    host: BorderHost,
    cell: CellMemory,
    hook: Hook | undefined,
    finish: (outcome: RunOutcome) => void,
  ): ActiveCall {
    const call = createActiveCall({ request, host, cell, hook, finish });
    this.#calls.add(call);
    this.#startWatch();
    if (this.#images.peek(cell.program.key)) this.#scheduler.enqueue(call);
    else this.#fetchImage(call);
    return call;
  }

  #fetchImage(call: ActiveCall): void {
    this.#images.fetch(call.cell.program).then(
      () => {
        if (call.state !== 'ended') this.#scheduler.enqueue(call);
      },
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        this.#finish(call, { status: 'error', error: { code: 'engine-failed', message, frames: [] } });
      },
    );
  }

  #runHook(request: RunRequest, host: BorderHost, cell: CellMemory, hook: Hook): Promise<RunOutcome> {
    return new Promise((resolve) => {
      this.#start(request, host, cell, hook, resolve);
    });
  }

  /** A session or plugin cell of an older generation hands its JSON state to the cell that takes its place. */
  async #handOver(request: RunRequest, host: BorderHost): Promise<void> {
    const old = this.#kept.find(request.cellKey);
    if (!old || old.program.key === request.program.key) return;
    const given = request.handOver ? await this.#runHook(request, host, old, { name: 'onReload', argumentJson: '' }) : undefined;
    this.#kept.drop(request.cellKey);
    if (given?.status !== 'success') return;
    const cell = this.#kept.take(request.cellKey, () => this.#newCell(request.program));
    await this.#runHook(request, host, cell, { name: 'onReload', argumentJson: given.outputJson ?? 'null' });
  }

  #onSlice(call: ActiveCall, result: CallSliceResult): void {
    call.used.cpuMs += result.cpuMs;
    call.used.hostCalls += result.hostCalls;
    for (const line of result.logs ?? []) {
      call.used.logLines++;
      call.used.logBytes += line.text.length;
      call.host.log(line);
    }
    for (const progress of result.progress ?? []) call.host.progress(progress);
    for (const crossing of result.crossings ?? []) recordCrossing(call, crossing);
    if (result.crossingsDropped) call.recordingComplete = false;
    if (result.cellLost && call.keepCell) this.#kept.lose(call.cell);
    if (call.ending) {
      this.#finish(call, call.ending);
      return;
    }
    const { end } = result;
    switch (end.kind) {
      case 'waiting':
        this.#wait(call, result);
        return;
      case 'return':
        if (call.open.size > 0 || result.abandoned) noteAbandoned(call, result.abandoned ?? []);
        this.#finish(call, readOutput(end.text));
        return;
      case 'throw':
        this.#finish(call, { status: 'error', error: toGuestError(end.report, 'handler-threw') });
        return;
      case 'never-settles':
        this.#finish(call, { status: 'timeout', error: neverSettles });
        return;
      case 'stopped':
        this.#finish(call, end.reason === 'memory' ? endOverMemory(call) : { status: 'timeout', error: cpuExceeded(call) });
    }
  }

  /** The call is suspended: its questions are answered one by one, and each answer makes it runnable again. */
  #wait(call: ActiveCall, result: CallSliceResult): void {
    for (const timer of result.clearedTimers ?? []) {
      for (const [id, question] of call.open) {
        if (question.timer !== timer) continue;
        question.cancel();
        call.open.delete(id);
      }
    }
    for (const id of result.cancelled ?? []) {
      call.open.get(id)?.cancel();
      call.open.delete(id);
    }
    call.state = 'waiting';
    for (const question of result.questions ?? []) {
      const open = openQuestion(question, call.host, (answer) => {
        if (!call.open.delete(question.id) || call.state === 'ended') return;
        recordCrossing(call, { id: question.id, op: question.op, payload: question.payload, answer });
        call.answers.push({ id: question.id, answer });
        if (call.state === 'waiting') this.#wake(call);
      });
      call.open.set(question.id, open);
    }
    if (call.answers.length > 0) this.#scheduler.enqueue(call);
    else call.host.waiting?.(true);
  }

  #wake(call: ActiveCall): void {
    call.host.waiting?.(false);
    this.#scheduler.enqueue(call);
  }

  #endFromOutside(call: ActiveCall, status: 'timeout' | 'cancelled', error: GuestError): void {
    if (call.state === 'ended' || call.ending) return;
    if (call.state === 'running') {
      call.ending = { status, error };
      if (this.#scheduler.stopSlice(call) === 'asked') return;
    }
    this.#scheduler.dequeue(call);
    this.#finish(call, { status, error });
    // The handler of a kept cell was left in the middle: its state cannot be trusted any more.
    if (call.keepCell) this.#kept.lose(call.cell);
    this.#scheduler.dropCell(call.cell);
  }

  #onThreadLost(call: ActiveCall, reason: 'killed' | 'died', detail: string): void {
    if (call.keepCell) this.#kept.lose(call.cell);
    if (reason === 'killed') this.#onKill(call.request.program.key);
    if (call.ending) this.#finish(call, call.ending);
    else if (reason === 'killed') this.#finish(call, { status: 'timeout', error: cpuExceeded(call) });
    else
      this.#finish(call, {
        status: 'error',
        error: { code: 'engine-failed', message: `The sandbox ended: ${detail}.`, frames: [] },
      });
  }

  #onCellLost(cell: CellMemory): void {
    this.#kept.lose(cell);
    for (const call of this.#calls) {
      if (call.cell !== cell) continue;
      this.#scheduler.dequeue(call);
      this.#finish(call, {
        status: 'error',
        error: { code: 'engine-failed', message: 'The sandbox of the waiting call was lost.', frames: [] },
      });
    }
  }

  #finish(call: ActiveCall, end: EndOfCall): void {
    if (call.state === 'ended') return;
    call.state = 'ended';
    this.#calls.delete(call);
    for (const question of call.open.values()) question.cancel();
    call.open.clear();
    call.finish({ ...end, recording: recordingOf(call), usage: usageOf(call) });
  }

  async #rebuild(program: Program): Promise<Uint8Array> {
    const code = await program.readCode();
    const text = typeof code === 'string' ? code : Buffer.from(code).toString('utf8');
    const result = await this.#scheduler.load({
      programKey: program.key,
      code: text,
      fileBase: baseName(program.label),
      budget: { ...defaultLimits, pendingHostBytes: 0 },
    });
    if (result.type === 'load-slice' && result.end.kind === 'loaded') return result.end.image;
    throw new Error(`the image of "${program.label}" could not be built again`);
  }

  #startWatch(): void {
    if (this.#watch) return;
    this.#watch = setInterval(() => {
      for (const call of this.#calls) {
        if (call.request.deadline.isOver()) this.#endFromOutside(call, 'timeout', wallExceeded(call));
      }
      this.#scheduler.watch(performance.now());
    }, WATCH_MS);
    this.#watch.unref();
  }
}

/** A module may export its plugin under the name of its file. */
function baseName(label: string): string {
  return label.replace(/\.[cm]?[jt]s$/, '');
}
