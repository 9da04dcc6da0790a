import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultLimits, limitTable } from '../../config/limits.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { BorderHost } from '../border.ts';
import { type CallEnd, createCallEnd } from '../call-end.ts';
import type { Engine, LoadRequest, LoadResult, Program, RunOutcome, RunRequest } from '../engine.ts';
import { createCrashCount } from '../guest/back-off.ts';
import { noteAbandoned, waitOut, withState } from '../guest/call.ts';
import { type DenoCell, DenoCells } from '../guest/cells.ts';
import { LoadFailed, loadInto } from '../guest/load-turn.ts';
import { provideGuestRunner } from '../guest/runner.ts';
import type { GuestCall } from '../guest/session.ts';
import { createSlots } from '../guest/slots.ts';
import { guardTurn } from '../guest/turn-guard.ts';
import { describeCall, describeLoad, describeMissing, describeUnbegun } from '../guest/turn-outcome.ts';
import { type FileFlags, keyOfFlags, noFiles } from './deno-flags.ts';
import { type DenoProcess, startDenoProcess } from './deno-process.ts';
import { requireDeno } from './find-deno.ts';
import { readFileFlags, watchFiles } from './grant-watch.ts';
import { findParentDeath } from './parent-death.ts';
import { openProcessBook, type ProcessBook } from './process-book.ts';

/** What the engine works with. */
export interface DenoEngineOptions {
  readonly dataDir: string;
  /** Names that no path may hold, whatever is granted. */
  readonly forbiddenSegments: readonly string[];
  /** Calls that run at once, kept processes that wait for their next call, and processes that are ready for one; at most. */
  readonly maxRunning?: number;
  readonly maxKept?: number;
  readonly maxReady?: number;
  /** Finds the binary; throws a HotcellError with what to install. */
  readonly findBinary?: () => string;
}

/** What only starts with the first plugin that needs it. */
interface Setup {
  readonly binary: string;
  readonly runner: string;
  readonly emptyDir: string;
  readonly book: ProcessBook;
  readonly withParent: readonly string[];
}

const heapMb = limitTable.memoryBytes.max / 1024 / 1024 + 64;

/**
 * Makes the engine that runs plugins in Deno processes, each with exactly the files that are granted to its call and no other
 * permission. What the plugin asks of the daemon goes over a private channel; processes end with the daemon.
 */
export function createDenoEngine(options: DenoEngineOptions): Engine {
  return new DenoEngine(options);
}

class DenoEngine implements Engine {
  readonly name = 'deno';
  readonly #options: DenoEngineOptions;
  readonly #closing = new AbortController();
  readonly #crashes = createCrashCount();
  readonly #slots: ReturnType<typeof createSlots>;
  readonly #cells: DenoCells;
  #setup: Promise<Setup> | undefined;

  constructor(options: DenoEngineOptions) {
    this.#options = options;
    this.#slots = createSlots(options.maxRunning ?? 16);
    this.#cells = new DenoCells({
      start: (files) => this.#startProcess(files),
      loadInto: (process, program) => this.#loadProgram(process, program),
      maxKept: options.maxKept ?? 8,
      maxReady: options.maxReady ?? 2,
    });
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    const process = await this.#cells.process(noFiles);
    const result = describeLoad(await loadInto(process, request.code, request.label, request.limits));
    // Nothing but the load has run in it: it is ready for the first call after the save.
    if (result.ok) this.#cells.offer({ process, programKey: request.key, flagsKey: keyOfFlags(noFiles), isBusy: false });
    else process.kill();
    return result;
  }

  async run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    const callEnd = createCallEnd(request.deadline, [signal, this.#closing.signal]);
    let leave: (() => void) | undefined;
    try {
      leave = await this.#slots.enter(callEnd.signal);
      await callEnd.race(waitOut(this.#crashes.waitMs(request.program.key)));
      const { files, notes } = await callEnd.race(readFileFlags(host, this.#options.forbiddenSegments));
      for (const text of notes) host.log({ level: 'warn', text, atMs: Date.now() });
      const cell = await this.#takeCell({ request, host }, request, files, callEnd);
      return await this.#runIn(cell, { request, host }, request, files, callEnd);
    } catch (error) {
      const reason = callEnd.reason();
      if (reason) return describeUnbegun(reason, request.limits);
      if (error instanceof HotcellError) return describeMissing(error);
      if (error instanceof LoadFailed) return describeCall({ ...error.facts, limits: request.limits });
      throw error;
    } finally {
      leave?.();
      callEnd.close();
    }
  }

  discard(target: { readonly cellKey?: string; readonly programKey?: string }): void {
    if (target.cellKey !== undefined) this.#cells.dropKept(target.cellKey);
    if (target.programKey !== undefined) this.#cells.dropProgram(target.programKey);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#cells.close();
  }

  /** The kept cell of a call that shares one, else a fresh one, to which an older cell hands its state. */
  async #takeCell(call: GuestCall, request: RunRequest, files: FileFlags, callEnd: CallEnd): Promise<DenoCell> {
    const { program, isolation, cellKey } = request;
    const makeFresh = () => callEnd.race(this.#cells.fresh(program, files, callEnd.signal));
    if (isolation === 'call') return makeFresh();
    const old = this.#cells.findKept(cellKey);
    const isCurrent = old?.programKey === program.key && old.flagsKey === keyOfFlags(files);
    if (old && isCurrent) {
      this.#cells.keep(cellKey, old);
      return old;
    }
    const given = old && request.handOver ? await this.#turn(old, withState(call, ''), callEnd) : undefined;
    this.#cells.dropKept(cellKey);
    const cell = await makeFresh();
    this.#cells.keep(cellKey, cell);
    if (given?.status === 'success') await this.#turn(cell, withState(call, JSON.stringify(given.output ?? null)), callEnd);
    return cell;
  }

  async #runIn(cell: DenoCell, call: GuestCall, request: RunRequest, files: FileFlags, callEnd: CallEnd): Promise<RunOutcome> {
    const watch = watchFiles(call.host, files);
    try {
      return await this.#turn(cell, call, callEnd, watch.stop);
    } finally {
      watch.close();
      if (request.isolation === 'call') {
        cell.process.kill();
        this.#cells.prepare(request.program, files);
      }
    }
  }

  async #turn(cell: DenoCell, call: GuestCall, callEnd: CallEnd, stop?: AbortSignal): Promise<RunOutcome> {
    const { process, programKey } = cell;
    const { limits } = call.request;
    const guard = guardTurn(process, limits, callEnd, stop);
    cell.isBusy = true;
    const onTurn: GuestCall['onTurn'] = (turn) => {
      process.turn = turn;
    };
    process.resume?.();
    const result = await process.session.call({ ...call, onTurn });
    process.pause?.();
    process.turn = undefined;
    cell.isBusy = false;
    const cpuMs = guard.close();
    const left = result.turn.close();
    if (result.end) this.#crashes.recovered(programKey);
    else if (!guard.stopped()) this.#crashes.crashed(programKey);
    if (result.end?.kind === 'return') noteAbandoned(call.host, left);
    return describeCall({ result, stopped: guard.stopped(), limits, lastWords: process.lastWords(), cpuMs });
  }

  async #loadProgram(process: DenoProcess, program: Program): Promise<void> {
    const facts = await loadInto(process, await program.readCode(), program.label, defaultLimits);
    if (facts.result.end?.kind === 'loaded') return;
    if (facts.result.lost) this.#crashes.crashed(program.key);
    throw new LoadFailed(facts);
  }

  async #startProcess(files: FileFlags): Promise<DenoProcess> {
    this.#setup ??= this.#setUp();
    // A binary that was not there may be there at the next try.
    this.#setup.catch(() => {
      this.#setup = undefined;
    });
    return startDenoProcess({ ...(await this.#setup), files, heapMb });
  }

  async #setUp(): Promise<Setup> {
    const binary = (this.#options.findBinary ?? requireDeno)();
    const dataDir = resolve(this.#options.dataDir);
    const folder = join(dataDir, 'deno');
    const emptyDir = join(folder, 'empty');
    mkdirSync(emptyDir, { recursive: true, mode: 0o700 });
    const book = openProcessBook(join(folder, 'processes'));
    return { binary, runner: await provideGuestRunner(dataDir, 'deno'), emptyDir, book, withParent: findParentDeath() };
  }
}
