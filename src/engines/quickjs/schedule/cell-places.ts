import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CellHolder, CellMemory } from '../cell-call.ts';
import type { ParkedMemory } from '../protocol.ts';
import { freeBytes } from '../suspend/free-bytes.ts';
import { refuseResume } from '../suspend/suspended-codec.ts';
import type { WaitingMemory } from '../suspend/waiting-memory.ts';
import type { WorkerThread } from './worker-thread.ts';

/** Where the memories of cells are, and how they move between worker threads and here. */
export class CellPlaces {
  readonly #cells = new Map<number, CellMemory>();
  /** Who asked for the memory of a cell that is on its way. */
  readonly #askedFor = new Map<number, Array<() => void>>();
  readonly #book: WaitingMemory;
  /** The folder for what has no room in memory. */
  readonly #dir: string;

  constructor(book: WaitingMemory, dir: string) {
    this.#book = book;
    this.#dir = dir;
  }

  add(cell: CellMemory): void {
    this.#cells.set(cell.id, cell);
  }

  /** Finds room for what a cell holds after a slice; false when its caller or all together hold too much. */
  hold(cell: CellMemory, holder: CellHolder, grownBytes: number): boolean {
    return this.#book.hold(cell, holder, grownBytes);
  }

  /** Takes in the memory of a call of an earlier process. Throws `interrupted` when there is no room for it. */
  takeIn(cell: CellMemory, holder: CellHolder, delta: Uint8Array): void {
    if (!this.#book.hold(cell, holder, delta.length)) throw refuseResume('there is no room for its memory');
    this.#book.correct(cell, delta.length);
    if (!this.#book.isForDisk(cell)) {
      cell.place = { kind: 'parked', delta };
      return;
    }
    const file = this.#fileFor(cell);
    writeFileSync(file, delta, { flag: 'wx', mode: 0o600 });
    cell.place = { kind: 'stored', file, bytes: delta.length };
    freeBytes(delta);
  }

  /** A slice begins in the cell: what it holds is that of a running call again. */
  leaveToSlice(cell: CellMemory): void {
    this.#book.release(cell);
  }

  /** After a slice: the memory stays in the thread, or nobody needs it any more. */
  endSlice(thread: WorkerThread, cell: CellMemory, stays: boolean): void {
    thread.residentCell = stays ? cell.id : undefined;
    if (stays) cell.place = { kind: 'resident', thread };
    else this.#forget(cell);
  }

  /** Nobody needs this cell any more. */
  drop(cell: CellMemory): void {
    this.#forget(cell);
    if (cell.place.kind === 'parked') freeBytes(cell.place.delta);
    if (cell.place.kind === 'stored') rmSync(cell.place.file, { force: true });
    if (cell.place.kind !== 'resident') return;
    cell.place.thread.forgetCell(cell.id);
    if (cell.place.thread.residentCell === cell.id) cell.place.thread.residentCell = undefined;
  }

  /** A memory arrived here, or on the disk; its cell when that is still wanted. */
  noteParked(cellId: number, memory: ParkedMemory): CellMemory | undefined {
    const cell = this.#cells.get(cellId);
    if (cell?.place.kind !== 'moving' && cell?.place.kind !== 'resident') {
      if (memory.kind === 'parked') freeBytes(memory.delta);
      if (memory.kind === 'stored') rmSync(memory.file, { force: true });
      return undefined;
    }
    if (memory.kind === 'failed') return cell;
    cell.place = { ...memory };
    this.#book.correct(cell, memory.kind === 'parked' ? memory.delta.length : memory.bytes);
    this.#tell(cellId);
    return cell;
  }

  /** The worker moves its resident out before it starts anything else; until its message is here the cell is on its way. */
  moveResidentOut(thread: WorkerThread, nextCell: number | undefined): void {
    const { residentCell } = thread;
    if (residentCell === undefined || residentCell === nextCell) return;
    const cell = this.#cells.get(residentCell);
    if (cell) {
      cell.place = { kind: 'moving', from: thread };
      if (this.#book.isForDisk(cell)) thread.park(cell.id, this.#fileFor(cell));
    }
    thread.residentCell = undefined;
  }

  /** The memory of a cell that is not running, moved here if need be; undefined when it has none or was lost on the way. */
  async takeOut(cell: CellMemory): Promise<Uint8Array | undefined> {
    const { place } = cell;
    if (place.kind === 'resident' || place.kind === 'moving') {
      const arrival = new Promise<void>((resolve) => {
        this.#askedFor.set(cell.id, [...(this.#askedFor.get(cell.id) ?? []), resolve]);
      });
      if (place.kind === 'resident') {
        this.moveResidentOut(place.thread, undefined);
        if (!this.#book.isForDisk(cell)) place.thread.park(cell.id, undefined);
      }
      await arrival;
    }
    if (cell.place.kind === 'parked') return cell.place.delta;
    // It may be read by its thread in the meantime: then it does not wait any more.
    return cell.place.kind === 'stored' ? readFile(cell.place.file).catch(() => undefined) : undefined;
  }

  /** Forgets the cells whose memory went down with a thread, but for those that ran there, and returns them. */
  takeLost(thread: WorkerThread, ran: ReadonlySet<CellMemory>): CellMemory[] {
    const lost = [...this.#cells.values()].filter((cell) => isIn(cell, thread) && !ran.has(cell));
    for (const cell of [...lost, ...ran]) this.#forget(cell);
    return lost;
  }

  /** No name comes twice: a file that nobody could delete is not written again. */
  #fileFor(cell: CellMemory): string {
    return join(this.#dir, `${cell.id}-${randomUUID()}`);
  }

  #forget(cell: CellMemory): void {
    this.#cells.delete(cell.id);
    this.#book.release(cell);
    this.#tell(cell.id);
  }

  #tell(cellId: number): void {
    const asking = this.#askedFor.get(cellId);
    if (asking === undefined) return;
    this.#askedFor.delete(cellId);
    for (const resolve of asking) resolve();
  }
}

function isIn({ place }: CellMemory, thread: WorkerThread): boolean {
  return (place.kind === 'resident' && place.thread === thread) || (place.kind === 'moving' && place.from === thread);
}
