import { randomFillSync } from 'node:crypto';
import { defaultLimits } from '../../config/limits.ts';
import type { BorderHost } from '../border.ts';
import type { Engine, GuestError, LoadRequest, LoadResult, Program, RunOutcome, RunRequest } from '../engine.ts';
import { type ActiveCall, type CellMemory, recordCrossing, recordingOf, usageOf } from './active-call.ts';
import { loadBase } from './base-store.ts';
import { compileQuickJs } from './cell/instance.ts';
import { toGuestError } from './guest-errors.ts';
import { ImageCache } from './image-cache.ts';
import { KeptCells } from './kept-cells.ts';
import { loadPrelude } from './prelude.ts';
import type { CallSliceResult, LoadSliceResult } from './protocol.ts';
import { openQuestion } from './questions.ts';
import { Scheduler } from './scheduler.ts';

/** How often deadlines are looked at, in ms. */
const WATCH_MS = 20;
const SEED_WORDS = 3;

/** Options of the QuickJS engine. */
export interface QuickJsOptions {
  /** Where the base image is cached. */
  readonly dataDir: string;
  readonly workers: { readonly min: number; readonly max: number };
  /** Told when a program's code had to be ended with its whole thread. Must not throw. */
  readonly onKill?: (programLabel: string) => void;
}

/** Starts the engine that runs TypeScript and JavaScript plugins in QuickJS cells. */
export async function createQuickJsEngine(options: QuickJsOptions): Promise<Engine> {
  const prelude = await loadPrelude();
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
  readonly #onKill: (programLabel: string) => void;
  readonly #seeds = new Uint32Array(SEED_WORDS * 64);
  #nextSeed = 0;
  #nextCell = 1;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: QuickJsOptions, setup: ConstructorParameters<typeof Scheduler>[0], fingerprint: Buffer) {
    this.#onKill = options.onKill ?? (() => {});
    this.#images = new ImageCache(fingerprint, (program) => this.#rebuild(program));
    this.#scheduler = new Scheduler(setup, options.workers, {
      onSlice: (call, result) => this.#onSlice(call, result),
      onThreadLost: (call, reason, detail) => this.#onThreadLost(call, reason, detail),
      onCellLost: (cell) => this.#onCellLost(cell),
      onImageMissing: (call) => void this.#images.fetch(call.request.program).then(() => this.#scheduler.enqueue(call)),
      findImage: (key) => this.#images.peek(key),
    });
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    const code = typeof request.code === 'string' ? request.code : Buffer.from(request.code).toString('utf8');
    this.#startWatch();
    const result = await this.#scheduler.load({
      programKey: request.key,
      code,
      fileBase: request.label,
      budget: request.limits,
    });
    return this.#readLoad(result, request);
  }

  run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    return new Promise((resolve, reject) => {
      const call = this.#createCall(request, host, (outcome) => {
        signal.removeEventListener('abort', cancel);
        resolve(outcome);
      });
      const cancel = () =>
        this.#endFromOutside(call, 'cancelled', { code: 'cancelled', message: 'The call was cancelled.', frames: [] });
      if (signal.aborted) {
        cancel();
        return;
      }
      signal.addEventListener('abort', cancel, { once: true });
      if (this.#images.peek(request.program.key)) {
        this.#scheduler.enqueue(call);
        return;
      }
      this.#images.fetch(request.program).then(() => {
        if (call.state !== 'ended') this.#scheduler.enqueue(call);
      }, reject);
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

  #createCall(request: RunRequest, host: BorderHost, finish: (outcome: RunOutcome) => void): ActiveCall {
    const keepCell = request.isolation !== 'call';
    const seed = this.#drawSeed();
    const cell = keepCell
      ? this.#kept.take(request.cellKey, request.program.key, () => this.#newCell(request))
      : this.#newCell(request);
    const facts = {
      handler: request.handler,
      executionId: request.executionId,
      caller: request.caller,
      session: request.session,
      outputBytes: request.limits.outputBytes,
      seed,
    };
    const call: ActiveCall = {
      request,
      host,
      cell,
      keepCell,
      seed,
      startedAtMs: Date.now(),
      state: 'queued',
      start: { hook: undefined, argumentsJson: request.argumentsJson, factsJson: JSON.stringify(facts) },
      answers: [],
      open: new Map(),
      used: { cpuMs: 0, hostCalls: 0, logLines: 0, logBytes: 0 },
      crossings: [],
      recordingBytes: 0,
      recordingComplete: true,
      thread: undefined,
      ending: undefined,
      finish,
    };
    this.#calls.add(call);
    this.#startWatch();
    return call;
  }

  #newCell(request: RunRequest): CellMemory {
    return { id: this.#nextCell++, programKey: request.program.key, place: { kind: 'new' } };
  }

  #onSlice(call: ActiveCall, result: CallSliceResult): void {
    call.used.cpuMs += result.cpuMs;
    call.used.hostCalls += result.hostCalls;
    for (const line of result.logs) {
      call.used.logLines++;
      call.used.logBytes += line.text.length;
      call.host.log(line);
    }
    for (const progress of result.progress) call.host.progress(progress);
    for (const crossing of result.crossings) recordCrossing(call, crossing);
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
        this.#finish(call, { status: 'success', output: JSON.parse(end.text), outputJson: end.text });
        return;
      case 'throw':
        this.#finish(call, { status: 'error', error: toGuestError(end.report, 'handler-threw') });
        return;
      case 'never-settles':
        this.#finish(call, { status: 'timeout', error: neverSettles });
        return;
      case 'stopped':
        this.#finish(call, { status: 'timeout', error: cpuExceeded(call) });
    }
  }

  /** The call is suspended: its questions are answered one by one, and each answer makes it runnable again. */
  #wait(call: ActiveCall, result: CallSliceResult): void {
    for (const timer of result.clearedTimers) {
      for (const [id, question] of call.open) {
        if (question.timer !== timer) continue;
        question.cancel();
        call.open.delete(id);
      }
    }
    call.state = 'waiting';
    for (const question of result.questions) {
      const open = openQuestion(question, call.host, (answer) => {
        if (!call.open.delete(question.id) || call.state === 'ended') return;
        recordCrossing(call, { id: question.id, op: question.op, payload: question.payload, answer });
        call.answers.push({ id: question.id, answer });
        if (call.state === 'waiting') this.#scheduler.enqueue(call);
      });
      call.open.set(question.id, open);
    }
    if (call.answers.length > 0) this.#scheduler.enqueue(call);
  }

  #endFromOutside(call: ActiveCall, status: 'timeout' | 'cancelled', error: GuestError): void {
    if (call.state === 'ended' || call.ending) return;
    if (call.state === 'running') {
      call.ending = { status, error };
      this.#scheduler.stopSlice(call);
      return;
    }
    this.#scheduler.dequeue(call);
    this.#finish(call, { status, error });
    // The handler of a kept cell was left in the middle: its state cannot be trusted any more.
    if (call.keepCell) this.#kept.lose(call.cell);
    this.#scheduler.dropCell(call.cell);
  }

  #onThreadLost(call: ActiveCall, reason: 'killed' | 'died', detail: string): void {
    if (call.keepCell) this.#kept.lose(call.cell);
    if (reason === 'killed') this.#onKill(call.request.program.label);
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
      fileBase: program.label,
      budget: defaultLimits,
    });
    if (result.type === 'load-slice' && result.end.kind === 'loaded') return result.end.image;
    throw new Error(`the image of "${program.label}" could not be built again`);
  }

  #readLoad(result: LoadSliceResult | { type: 'lost'; reason: string; detail: string }, request: LoadRequest): LoadResult {
    if (result.type === 'lost') {
      if (result.reason === 'died')
        return { ok: false, error: { code: 'engine-failed', message: `The sandbox ended: ${result.detail}.`, frames: [] } };
      this.#onKill(request.label);
      return { ok: false, error: { code: 'time-exceeded', message: 'Loading did not end within its limit.', frames: [] } };
    }
    const { end } = result;
    switch (end.kind) {
      case 'loaded':
        return {
          ok: true,
          exported: JSON.parse(end.exportedJson),
          image: this.#images.put(request.key, end.image),
          warnings: [],
        };
      case 'throw':
        return { ok: false, error: toGuestError(end.report, 'load-failed') };
      case 'stopped':
        return {
          ok: false,
          error: { code: 'time-exceeded', message: `Loading took more than ${request.limits.cpuMs} ms.`, frames: [] },
        };
      case 'never-settles':
        return {
          ok: false,
          error: { code: 'load-failed', message: 'onLoad returned a promise that never settles.', frames: [] },
        };
    }
  }

  #startWatch(): void {
    if (this.#watch) return;
    this.#watch = setInterval(() => {
      const now = Date.now();
      for (const call of this.#calls) {
        if (now >= call.request.deadlineMs) this.#endFromOutside(call, 'timeout', wallExceeded(call));
      }
      this.#scheduler.watch(performance.now());
    }, WATCH_MS);
    this.#watch.unref();
  }

  /** Seeds are drawn in advance, many at a time: a system call for each would cost as much as a restore. */
  #drawSeed(): readonly [number, number, number] {
    if (this.#nextSeed === 0) randomFillSync(this.#seeds);
    const at = this.#nextSeed;
    this.#nextSeed = (at + SEED_WORDS) % this.#seeds.length;
    return [this.#seeds[at] ?? 0, this.#seeds[at + 1] ?? 0, this.#seeds[at + 2] ?? 0];
  }
}

type EndOfCall =
  | { readonly status: 'success'; readonly output: unknown; readonly outputJson: string }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

const neverSettles: GuestError = {
  code: 'handler-never-settles',
  message: 'The handler waits for a promise that nothing can settle any more: no host call and no timer is open.',
  frames: [],
};

function cpuExceeded(call: ActiveCall): GuestError {
  return {
    code: 'time-exceeded',
    message: `The call used more than its ${call.request.limits.cpuMs} ms of processor time.`,
    frames: [],
  };
}

function wallExceeded(call: ActiveCall): GuestError {
  return { code: 'time-exceeded', message: `The call did not end within ${call.request.limits.wallMs} ms.`, frames: [] };
}
