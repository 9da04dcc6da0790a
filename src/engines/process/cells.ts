import type { Program } from '../engine.ts';
import type { GuestProcess } from './guest-process.ts';

/** A process with a plugin in it. */
export interface GuestCell<Process extends GuestProcess> {
  readonly process: Process;
  readonly programKey: string;
  readonly settingKey: string;
  isBusy: boolean;
}

/** A cell on its way; a call may claim it before it is there. */
interface Preparing<Process extends GuestProcess> {
  readonly programKey: string;
  readonly settingKey: string;
  readonly cell: Promise<GuestCell<Process>>;
  isClaimed: boolean;
}

/** What the cells are made with. */
export interface CellParts<Process extends GuestProcess, Setting> {
  readonly start: (setting: Setting) => Promise<Process>;
  /** Processes with the same key are alike. */
  readonly keyOf: (setting: Setting) => string;
  /** Evaluates a program in a fresh process; rejects when that did not work. */
  readonly loadInto: (process: Process, program: Program) => Promise<void>;
  /** Kept cells, and cells in waiting, at most. */
  readonly maxKept: number;
  readonly maxReady: number;
}

/**
 * The cells of the engine. A kept cell serves its cell key alone. A cell in waiting has evaluated its program, and no call
 * has run in it: it serves exactly one.
 */
export class GuestCells<Process extends GuestProcess, Setting> {
  readonly #parts: CellParts<Process, Setting>;
  readonly #kept = new Map<string, GuestCell<Process>>();
  /** Who used a kept cell last. */
  readonly #callerOf = new WeakMap<GuestCell<Process>, string>();
  readonly #all = new Set<Process>();
  readonly #starting = new Set<Promise<Process>>();
  #ready: GuestCell<Process>[] = [];
  #preparing: Preparing<Process> | undefined;
  #isClosed = false;

  constructor(parts: CellParts<Process, Setting>) {
    this.#parts = parts;
  }

  findKept(cellKey: string): GuestCell<Process> | undefined {
    const cell = this.#kept.get(cellKey);
    if (!cell || cell.process.isAlive()) return cell;
    this.#kept.delete(cellKey);
    return undefined;
  }

  /** Keeps a cell under its key. Of those that nothing runs in, the one unused for longest of the caller with most makes room. */
  keep(cellKey: string, cell: GuestCell<Process>, callerId: string): void {
    this.#kept.delete(cellKey);
    this.#kept.set(cellKey, cell);
    this.#callerOf.set(cell, callerId);
    while (this.#kept.size > this.#parts.maxKept) {
      const surplus = this.#findSurplus(cell);
      if (surplus === undefined) return;
      this.dropKept(surplus);
    }
  }

  #findSurplus(newest: GuestCell<Process>): string | undefined {
    const countByCaller = new Map<string | undefined, number>();
    for (const cell of this.#kept.values()) {
      const callerId = this.#callerOf.get(cell);
      countByCaller.set(callerId, (countByCaller.get(callerId) ?? 0) + 1);
    }
    let most = 0;
    let surplus: string | undefined;
    for (const [key, cell] of this.#kept) {
      const ofCaller = countByCaller.get(this.#callerOf.get(cell)) ?? 0;
      if (cell.isBusy || cell === newest || ofCaller <= most) continue;
      most = ofCaller;
      surplus = key;
    }
    return surplus;
  }

  dropKept(cellKey: string): void {
    const cell = this.#kept.get(cellKey);
    this.#kept.delete(cellKey);
    cell?.process.kill();
  }

  /** A cell in which no call has run: one in waiting, else a new one. One that comes after the signal is ended. */
  async fresh(program: Program, setting: Setting, signal: AbortSignal): Promise<GuestCell<Process>> {
    const settingKey = this.#parts.keyOf(setting);
    const ready = this.#ready.find((cell) => cell.programKey === program.key && cell.settingKey === settingKey);
    this.#ready = this.#ready.filter((cell) => cell !== ready);
    const cell = ready?.process.isAlive() ? ready : await this.#claim(program, settingKey, setting);
    if (signal.aborted) cell.process.kill();
    return cell;
  }

  /** The cell that is just being made for the next call, when it is of the same kind; else a new one. */
  async #claim(program: Program, settingKey: string, setting: Setting): Promise<GuestCell<Process>> {
    const preparing = this.#preparing;
    if (preparing?.programKey !== program.key || preparing.settingKey !== settingKey) return this.#make(program, setting);
    this.#preparing = undefined;
    preparing.isClaimed = true;
    const cell = await preparing.cell.catch(() => undefined);
    return cell?.process.isAlive() ? cell : this.#make(program, setting);
  }

  /** Makes a cell for the next call of a program, in the background. What fails here fails again in the call, with a reason. */
  prepare(program: Program, setting: Setting): void {
    const settingKey = this.#parts.keyOf(setting);
    const isThere = this.#ready.some((cell) => cell.programKey === program.key && cell.settingKey === settingKey);
    if (this.#isClosed || this.#preparing || isThere) return;
    const cell = this.#make(program, setting);
    const preparing: Preparing<Process> = { programKey: program.key, settingKey, cell, isClaimed: false };
    this.#preparing = preparing;
    cell
      .then((made) => {
        if (!preparing.isClaimed) this.offer(made);
      })
      .catch(() => undefined)
      .finally(() => {
        if (this.#preparing === preparing) this.#preparing = undefined;
      });
  }

  /** Takes a cell in which no call has run; the oldest of those that wait makes room. */
  offer(cell: GuestCell<Process>): void {
    cell.process.rest();
    this.#ready.push(cell);
    const surplus = this.#ready.splice(0, Math.max(0, this.#ready.length - this.#parts.maxReady));
    for (const { process } of surplus) process.kill();
  }

  /** Ends the cells in waiting; kept ones stay. */
  dropReady(): void {
    for (const { process } of this.#ready.splice(0)) process.kill();
  }

  dropProgram(programKey: string): void {
    for (const [key, cell] of [...this.#kept]) if (cell.programKey === programKey) this.dropKept(key);
    for (const cell of this.#ready) if (cell.programKey === programKey) cell.process.kill();
    this.#ready = this.#ready.filter((cell) => cell.programKey !== programKey);
  }

  /** A process as the cell of the program that was loaded into it. */
  fill(process: Process, programKey: string, setting: Setting): GuestCell<Process> {
    return { process, programKey, settingKey: this.#parts.keyOf(setting), isBusy: false };
  }

  /** A process with nothing in it. */
  process(setting: Setting): Promise<Process> {
    if (this.#isClosed) return Promise.reject(new Error('The engine is closed.'));
    // Stands among those that start until it stands among all: whoever closes must miss none in between.
    const starting = this.#parts.start(setting).then((process) => {
      this.#all.add(process);
      void process.exited.then(() => this.#all.delete(process));
      return process;
    });
    this.#starting.add(starting);
    return starting.finally(() => this.#starting.delete(starting));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting);
    const processes = [...this.#all];
    for (const process of processes) process.kill();
    await Promise.all(processes.map(({ exited }) => exited));
  }

  async #make(program: Program, setting: Setting): Promise<GuestCell<Process>> {
    const process = await this.process(setting);
    try {
      await this.#parts.loadInto(process, program);
    } catch (error) {
      process.kill();
      throw error;
    }
    return this.fill(process, program.key, setting);
  }
}
