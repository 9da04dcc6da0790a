import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DockerSettings } from '../../../config/config-types.ts';
import { defaultLimits } from '../../../config/limits.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import type { BorderHost } from '../../border.ts';
import { type CallEnd, createCallEnd } from '../../call-end.ts';
import { keyOfFlags, noFiles } from '../../deno/deno-flags.ts';
import type { Engine, LoadRequest, LoadResult, Program, RunOutcome, RunRequest } from '../../engine.ts';
import { describeEarlyEnd } from '../../extism/run-outcome.ts';
import { createCrashCount } from '../../guest/back-off.ts';
import { noteAbandoned, waitOut, withState } from '../../guest/call.ts';
import { type DenoCell, DenoCells } from '../../guest/cells.ts';
import { LoadFailed, loadInto } from '../../guest/load-turn.ts';
import { createPlaces, type Place, type Places, steppingAside } from '../../guest/places.ts';
import { provideGuestRunner } from '../../guest/runner.ts';
import type { GuestCall } from '../../guest/session.ts';
import { guardTurn } from '../../guest/turn-guard.ts';
import { describeCall, describeLoad, describeMissing, type TurnFacts } from '../../guest/turn-outcome.ts';
import type { SandboxRunner } from '../sandbox-runner.ts';
import { type GuestContainer, startGuestContainer } from './guest-container.ts';
import { createSpare, type Spare } from './spare.ts';

/** What the engine works with. */
export interface DockerEngineParts {
  readonly dataDir: string;
  readonly settings: DockerSettings;
  /** Starts containers; it must be closed after the engine. */
  readonly sandbox: Pick<SandboxRunner, 'hold'>;
  /** Containers kept for a session or a plugin, and containers that wait for the next call with their plugin; at most. */
  readonly maxKept?: number;
  readonly maxReady?: number;
}

type Cell = DenoCell<GuestContainer>;

const MIB = 1024 * 1024;
/** What Node needs beside its heap. */
const spareMb = 96;
const leastHeapMb = 32;

/**
 * Makes the engine that runs plugins with Node in hardened containers, one container a cell. Nothing of this machine is in
 * them; what a plugin asks of the daemon goes over the standard streams of its container.
 */
export function createDockerEngine(parts: DockerEngineParts): Engine {
  return new DockerEngine(parts);
}

class DockerEngine implements Engine {
  readonly name = 'docker';
  readonly #parts: DockerEngineParts;
  readonly #closing = new AbortController();
  readonly #crashes = createCrashCount();
  readonly #places: Places;
  readonly #cells: DenoCells<GuestContainer>;
  readonly #spare: Spare;
  #runner: Promise<string> | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: DockerEngineParts) {
    this.#parts = parts;
    const { maxRunning, warm } = parts.settings;
    this.#places = createPlaces({ most: maxRunning, mostAside: maxRunning });
    this.#spare = createSpare(() => this.#start(), warm.total > 0);
    this.#cells = new DenoCells({
      start: () => this.#spare.take(),
      loadInto: (container, program) => this.#loadProgram(container, program),
      maxKept: parts.maxKept ?? 8,
      maxReady: parts.maxReady ?? Math.min(2, warm.total),
    });
  }

  async load(request: LoadRequest): Promise<LoadResult> {
    const container = await this.#cells.process(noFiles);
    const result = describeLoad(await loadIntoContainer(container, request));
    // Nothing but the load has run in it: it is ready for the first call after the save.
    if (result.ok)
      this.#cells.offer({ process: container, programKey: request.key, flagsKey: keyOfFlags(noFiles), isBusy: false });
    else container.kill();
    this.#restWhenIdle();
    return result;
  }

  async run(request: RunRequest, host: BorderHost, signal: AbortSignal): Promise<RunOutcome> {
    const callEnd = createCallEnd(request.deadline, [signal, this.#closing.signal]);
    let place: Place | undefined;
    try {
      place = await this.#places.enter(callEnd.signal);
      await callEnd.race(waitOut(this.#crashes.waitMs(request.program.key)));
      const call = { request, host: steppingAside(host, place) };
      const cell = await this.#takeCell(call, request, callEnd);
      try {
        return await this.#turn(cell, call, callEnd);
      } finally {
        if (request.isolation === 'call') {
          cell.process.kill();
          if (this.#parts.settings.warm.total > 0) this.#cells.prepare(request.program, noFiles);
          this.#restWhenIdle();
        }
      }
    } catch (error) {
      const reason = callEnd.reason();
      if (reason) return describeEarlyEnd(reason);
      if (error instanceof LoadFailed) return describeCall({ ...error.facts, limits: request.limits });
      if (error instanceof HotcellError) return describeMissing(error);
      throw error;
    } finally {
      place?.leave();
      callEnd.close();
    }
  }

  warm(): void {
    if (this.#parts.settings.pluginImage === '') return;
    this.#spare.prepare();
    this.#restWhenIdle();
  }

  discard(target: { readonly cellKey?: string; readonly programKey?: string }): void {
    if (target.cellKey !== undefined) this.#cells.dropKept(target.cellKey);
    if (target.programKey !== undefined) this.#cells.dropProgram(target.programKey);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#idle);
    await Promise.all([this.#spare.close(), this.#cells.close()]);
  }

  /** The kept cell of a call that shares one, else a fresh one, to which an older cell hands its state. */
  async #takeCell(call: GuestCall, request: RunRequest, callEnd: CallEnd): Promise<Cell> {
    const { program, isolation, cellKey } = request;
    const makeFresh = () => callEnd.race(this.#cells.fresh(program, noFiles, callEnd.signal));
    if (isolation === 'call') return makeFresh();
    const old = this.#cells.findKept(cellKey);
    if (old?.programKey === program.key) {
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

  async #turn(cell: Cell, call: GuestCall, callEnd: CallEnd): Promise<RunOutcome> {
    const { process: container, programKey } = cell;
    const { limits } = call.request;
    const guard = guardTurn(container, limits, callEnd);
    cell.isBusy = true;
    container.setIdle(false);
    container.allowDial(call.host.dial);
    const onTurn: GuestCall['onTurn'] = (turn) => {
      container.turn = turn;
    };
    const result = await container.session.call({ ...call, onTurn });
    const fault = result.lost ? await container.fault : {};
    container.turn = undefined;
    container.allowDial(undefined);
    cell.isBusy = false;
    const cpuMs = guard.close();
    container.setIdle(true);
    const left = result.turn.close();
    const stopped = guard.stopped() ?? (fault.isMemory ? 'memory' : undefined);
    if (result.end) this.#crashes.recovered(programKey);
    else if (!stopped) this.#crashes.crashed(programKey);
    if (result.end?.kind === 'return') noteAbandoned(call.host, left);
    const outcome = describeCall({ result, stopped, limits, lastWords: container.lastWords(), cpuMs });
    if (!fault.error || stopped || outcome.status !== 'error') return outcome;
    const { code, message } = fault.error;
    return { ...outcome, error: { code, message, frames: [] } };
  }

  async #loadProgram(container: GuestContainer, program: Program): Promise<void> {
    const { key, label } = program;
    const facts = await loadIntoContainer(container, { key, label, code: await program.readCode(), limits: defaultLimits });
    if (facts.result.end?.kind === 'loaded') return;
    if (facts.result.lost) this.#crashes.crashed(key);
    throw new LoadFailed(facts);
  }

  /** Containers that wait for a call cost memory: after a while without one there are none. */
  #restWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#cells.dropReady();
      this.#spare.drop();
    }, this.#parts.settings.warm.idleMs);
    this.#idle.unref();
  }

  async #start(): Promise<GuestContainer> {
    const { settings, sandbox, dataDir } = this.#parts;
    const image = settings.pluginImage;
    if (image === '') throw noImage();
    this.#runner ??= provideGuestRunner(resolve(dataDir), 'node').then((file) => readFile(file, 'utf8'));
    this.#runner.catch(() => {
      this.#runner = undefined;
    });
    const runner = await this.#runner;
    const opened = await sandbox.hold({ id: 'plugin-cell', image }, this.#closing.signal);
    const heapMb = Math.max(leastHeapMb, Math.floor(settings.memoryBytes / MIB) - spareMb);
    return startGuestContainer({ opened, image, runner, heapMb });
  }
}

async function loadIntoContainer(container: GuestContainer, { code, label, limits }: LoadRequest): Promise<TurnFacts> {
  const facts = await loadInto(container, code, label, limits);
  container.setIdle(true);
  const { isMemory } = facts.result.lost ? await container.fault : {};
  return isMemory ? { ...facts, stopped: facts.stopped ?? 'memory' } : facts;
}

function noImage(): HotcellError {
  return new HotcellError('image-missing', 'The engine "docker" needs an image with Node, and the config names none.', {
    fix: 'Set docker.pluginImage to an image of this machine with Node 22 or later, such as node:22-alpine, and restart.',
  });
}
