import type { BorderHost, LogLine } from '../../border/border.ts';
import { answerAside, createPlaces, type Place, type Places } from '../../concurrency/engine-places.ts';
import { defaultLimits, type Limits } from '../../config/limits.ts';
import type { PlaceBounds } from '../../config/quotas/quota.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { Deadline } from '../deadline.ts';
import {
  type Engine,
  type EngineName,
  type LoadRequest,
  type LoadResult,
  noUsage,
  type Program,
  type RunOutcome,
  type RunRequest,
  type ScriptTraits,
} from '../engine.ts';
import { createRunEnd, type RunEnd } from '../run-end.ts';
import { describeStop, failRun, noteAbandoned } from '../run-outcome.ts';
import { CrashCount } from './back-off.ts';
import { type CellParts, type GuestCell, GuestCells } from './cells.ts';
import { guardTurn } from './guest-call-guard.ts';
import { describeCall, describeLoad, describeTurnStop, type FileStop, type TurnFacts } from './guest-call-outcome.ts';
import type { GuestCall } from './guest-channel.ts';
import type { GuestProcess } from './guest-process.ts';

/** What an engine of processes is made of. A setting is what a process can only be given when it starts. */
export interface GuestEngineParts<Process extends GuestProcess, Setting> extends Omit<CellParts<Process, Setting>, 'loadInto'> {
  readonly name: EngineName;
  readonly script: ScriptTraits;
  readonly findMissing: () => Promise<string | undefined>;
  /** Calls that run at once, and calls that wait for something else beside them. */
  readonly places: PlaceBounds;
  readonly aside: PlaceBounds;
  /** The setting in which nothing is granted. */
  readonly none: Setting;
  /** The setting for a call. Rejects with a HotcellError. */
  readonly readSetting: (host: BorderHost) => Promise<Setting>;
  /** Watches whether the setting of a call still holds; aborted with a FileStop when it does not. */
  readonly watchSetting?: (
    host: BorderHost,
    setting: Setting,
  ) => {
    readonly stop: AbortSignal;
    /** Called when the process does not run any more: why what the call wrote does not count. */
    close(): Promise<FileStop | undefined>;
  };
  /** After a call a process is made ready for the next one like it. */
  readonly preparesNext: boolean;
  /** Gets ready for a first call. Must not throw. */
  readonly warm?: () => void;
  /** Ends what is beside the cells. */
  readonly close?: () => Promise<void>;
}

/** One call on its way. */
interface CallInHand<Setting> extends GuestCall {
  readonly request: RunRequest;
  readonly setting: Setting;
  readonly callEnd: RunEnd;
}

/**
 * The engine of plugins that run in processes or containers, one for every cell. It ends what passes a limit or outlives its
 * call, and backs off from a plugin whose processes crash.
 */
export class GuestEngine<Process extends GuestProcess, Setting> implements Engine {
  readonly name: EngineName;
  readonly script: ScriptTraits;
  readonly findMissing: () => Promise<string | undefined>;
  readonly #cells: GuestCells<Process, Setting>;
  readonly #parts: GuestEngineParts<Process, Setting>;
  readonly #closing = new AbortController();
  readonly #crashes = new CrashCount();
  readonly #places: Places;

  constructor(parts: GuestEngineParts<Process, Setting>) {
    this.name = parts.name;
    this.script = parts.script;
    this.findMissing = parts.findMissing;
    this.#parts = parts;
    this.#places = createPlaces({ inside: parts.places, aside: parts.aside, engine: parts.name });
    this.#cells = new GuestCells({ ...parts, loadInto: (process, program) => this.#loadProgram(process, program) });
  }

  async load({ key, label, code, limits }: LoadRequest): Promise<LoadResult> {
    const { none } = this.#parts;
    const process = await this.#cells.process(none);
    const result = describeLoad(await loadInto(process, code, label, limits));
    if (!result.ok) {
      process.kill();
      const message = process.explainRefusals?.(result.error.message, label) ?? result.error.message;
      return { ...result, error: { ...result.error, message } };
    }
    // Nothing but the load has run in it: it is ready for the first call after the save.
    this.#cells.offer(this.#cells.fill(process, key, none));
    return result;
  }

  async run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    const { keyOf, none } = this.#parts;
    const callEnd = createRunEnd(request.deadline, [signal, this.#closing.signal]);
    let place: Place | undefined;
    try {
      // The order of its places decides who runs: other engines need not wait for those in line here.
      host.waiting?.(true);
      await callEnd.race(waitOut(this.#crashes.waitMs(request.program.key)));
      place = await this.#places.enter(request.holder, callEnd.signal);
      const setting = await callEnd.race(this.#parts.readSetting(host));
      const hook = request.hook === undefined ? {} : { hook: { name: request.hook, argumentJson: '' } };
      const call = { request, host: withAnswer(host, place, callEnd.signal), setting, callEnd, ...hook };
      const outcome = await this.#runIn(call);
      return setting === undefined || keyOf(setting) === keyOf(none) ? outcome : withoutFiles(outcome);
    } catch (error) {
      const reason = callEnd.reason();
      if (reason) return { ...describeStop(reason, request.limits), usage: noUsage };
      if (error instanceof LoadFailed) return describeCall({ ...error.facts, limits: request.limits });
      if (error instanceof HotcellError) return { ...failRun(error.code, `${error.message} ${error.fix}`), usage: noUsage };
      throw error;
    } finally {
      place?.leave();
      callEnd.close();
    }
  }

  discard(target: { readonly cellKey?: string; readonly programKey?: string }): void {
    if (target.cellKey !== undefined) this.#cells.dropKept(target.cellKey);
    if (target.programKey !== undefined) this.#cells.dropProgram(target.programKey);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#parts.close?.(), this.#cells.close()]);
  }

  warm(): void {
    this.#parts.warm?.();
  }

  /** Ends the cells in waiting; kept ones stay. */
  dropReady(): void {
    this.#cells.dropReady();
  }

  async #runIn(call: CallInHand<Setting>): Promise<RunOutcome> {
    const cell = await this.#takeCell(call);
    const watch = this.#parts.watchSetting?.(call.host, call.setting);
    let refusal: FileStop | undefined;
    let outcome: RunOutcome;
    try {
      outcome = await this.#turn(cell, call, watch?.stop);
    } finally {
      if (call.request.isolation === 'call') {
        cell.process.kill();
        if (this.#parts.preparesNext && !call.request.earlier) this.#cells.prepare(call.request.program, call.setting);
      }
      refusal = await watch?.close();
    }
    return refusal !== undefined && outcome.status === 'success'
      ? { ...outcome, ...describeTurnStop(refusal, call.request.limits) }
      : outcome;
  }

  /** The kept cell of a call that shares one, else a fresh one, to which an older cell hands its state. */
  async #takeCell(call: CallInHand<Setting>): Promise<GuestCell<Process>> {
    const { setting, callEnd } = call;
    const { program, isolation, cellKey, handOver } = call.request;
    const makeFresh = () => callEnd.race(this.#cells.fresh(program, setting, callEnd.signal));
    if (isolation === 'call') return makeFresh();
    const old = this.#cells.findKept(cellKey);
    if (old?.programKey === program.key && old.settingKey === this.#parts.keyOf(setting)) {
      this.#cells.keep(cellKey, old, call.request.holder.callerId);
      return old;
    }
    const given = old && handOver ? await this.#turn(old, { ...call, ...withState(call, '') }) : undefined;
    this.#cells.dropKept(cellKey);
    const cell = await makeFresh();
    this.#cells.keep(cellKey, cell, call.request.holder.callerId);
    if (given?.status === 'success') {
      await this.#turn(cell, { ...call, ...withState(call, JSON.stringify(given.output ?? null)) });
    }
    return cell;
  }

  async #turn(
    cell: GuestCell<Process>,
    call: GuestCall & Pick<CallInHand<Setting>, 'callEnd' | 'request'>,
    stop?: AbortSignal,
  ): Promise<RunOutcome> {
    const { process, programKey } = cell;
    const { limits } = call.request;
    const guard = guardTurn(process, limits, call.callEnd, stop);
    cell.isBusy = true;
    process.wake(call.host);
    const onTurn: GuestCall['onTurn'] = (turn) => {
      process.output.turn = turn;
    };
    const explain = (text: string): string => process.explainRefusals?.(text, call.request.program.label) ?? text;
    const host = { ...call.host, log: (line: LogLine) => call.host.log({ ...line, text: explain(line.text) }) };
    const result = await process.session.call({ ...call, host, onTurn });
    const fault = result.lost ? await process.explainEnd() : {};
    process.output.turn = undefined;
    cell.isBusy = false;
    const cpuMs = guard.close();
    process.rest();
    const left = result.turn.close();
    const stopped = guard.stopped() ?? (fault.isMemory ? 'memory' : undefined);
    if (result.end) this.#crashes.recovered(programKey);
    else if (!stopped && !call.request.earlier) this.#crashes.crashed(programKey);
    if (result.end?.kind === 'return') noteAbandoned(call.host, left);
    const outcome = explainError(describeCall({ result, stopped, limits, lastWords: process.output.lastWords, cpuMs }), explain);
    if (!fault.error || stopped || outcome.status !== 'error') return outcome;
    return { ...outcome, ...failRun(fault.error.code, fault.error.message, outcome.status) };
  }

  async #loadProgram(process: Process, program: Program): Promise<void> {
    const facts = await loadInto(process, await program.readCode(), program.label, defaultLimits);
    if (facts.result.end?.kind === 'loaded') return;
    if (facts.result.lost) this.#crashes.crashed(program.key);
    throw new LoadFailed(facts);
  }
}

/** A program could not be evaluated in a new process, although it could once. */
class LoadFailed extends Error {
  readonly facts: TurnFacts;

  constructor(facts: TurnFacts) {
    super('the program did not load');
    this.facts = facts;
  }
}

/** Evaluates a bundle in a fresh process, within limits and with no capability. */
async function loadInto(process: GuestProcess, code: string | Uint8Array, label: string, limits: Limits): Promise<TurnFacts> {
  const loadEnd = createRunEnd(new Deadline(limits.wallMs), []);
  const guard = guardTurn(process, limits, loadEnd);
  const text = typeof code === 'string' ? code : new TextDecoder().decode(code);
  const result = await process.session.load(text, label.replace(/\.[cm]?[jt]sx?$/, ''), limits);
  loadEnd.close();
  result.turn.close();
  return { result, stopped: guard.stopped(), limits, lastWords: process.output.lastWords, cpuMs: guard.close() };
}

/** What a process opens by itself crosses no border. */
function withoutFiles(outcome: RunOutcome): RunOutcome {
  return outcome.recording ? { ...outcome, recording: { ...outcome.recording, complete: false } } : outcome;
}

/** The host of a call that steps aside while it waits for long. */
function withAnswer(host: BorderHost, place: Place, call: AbortSignal): BorderHost {
  const { dial, workspace } = host;
  return {
    answer: (request, question) => answerAside(place, host, request, { question, call }),
    view: () => host.view(),
    log: (line) => host.log(line),
    progress: (progress) => host.progress(progress),
    deniedName: (name) => host.deniedName?.(name),
    ...(dial ? { dial: (to, signal) => dial.call(host, to, signal) } : {}),
    ...(workspace ? { workspace: () => workspace.call(host) } : {}),
  };
}

function explainError(outcome: RunOutcome, explain: (text: string) => string): RunOutcome {
  if (outcome.status === 'success') return outcome;
  return { ...outcome, error: { ...outcome.error, message: explain(outcome.error.message) } };
}

/** A call of the hook that hands state over, with JSON text as its argument; empty asks for the state. */
function withState<Call extends GuestCall>(call: Call, argumentJson: string): Call {
  return { ...call, hook: { name: 'onReload', argumentJson } };
}

/** Waits for the back-off of a program that crashed; not at all for 0. */
function waitOut(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
