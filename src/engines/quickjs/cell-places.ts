import type { CellMemory } from './active-call.ts';
import type { WorkerThread } from './worker-thread.ts';

/** Where the memories of cells are, and how they move between worker threads and here. */
export class CellPlaces {
  readonly #cells = new Map<number, CellMemory>();
  /** Who asked for the memory of a cell that is on its way. */
  readonly #askedFor = new Map<number, Array<(delta: Uint8Array | undefined) => void>>();

  add(cell: CellMemory): void {
    this.#cells.set(cell.id, cell);
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
    if (cell.place.kind !== 'resident') return;
    cell.place.thread.forget([], [cell.id]);
    if (cell.place.thread.residentCell === cell.id) cell.place.thread.residentCell = undefined;
  }

  /** A memory arrived here; true when its cell is still wanted. */
  noteParked(cellId: number, delta: Uint8Array): boolean {
    const cell = this.#cells.get(cellId);
    if (cell?.place.kind !== 'moving' && cell?.place.kind !== 'resident') return false;
    cell.place = { kind: 'parked', delta };
    this.#tell(cellId, delta);
    return true;
  }

  /** The worker moves its resident out before it starts anything else; until its message is here the cell is on its way. */
  moveResidentOut(thread: WorkerThread, nextCell: number | undefined): void {
    const { residentCell } = thread;
    if (residentCell === undefined || residentCell === nextCell) return;
    const cell = this.#cells.get(residentCell);
    if (cell) cell.place = { kind: 'moving', from: thread };
    thread.residentCell = undefined;
  }

  /** The memory of a cell that is not running, moved here if need be; undefined when it has none or was lost on the way. */
  takeOut(cell: CellMemory): Promise<Uint8Array | undefined> {
    const { place } = cell;
    if (place.kind === 'parked') return Promise.resolve(place.delta);
    if (place.kind === 'new') return Promise.resolve(undefined);
    const arrival = new Promise<Uint8Array | undefined>((resolve) => {
      this.#askedFor.set(cell.id, [...(this.#askedFor.get(cell.id) ?? []), resolve]);
    });
    if (place.kind === 'resident') {
      this.moveResidentOut(place.thread, undefined);
      place.thread.park(cell.id);
    }
    return arrival;
  }

  /** Forgets the cells whose memory went down with a thread, but for those that ran there, and returns them. */
  takeLost(thread: WorkerThread, ran: ReadonlySet<CellMemory>): CellMemory[] {
    const lost = [...this.#cells.values()].filter((cell) => isIn(cell, thread) && !ran.has(cell));
    for (const cell of [...lost, ...ran]) this.#forget(cell);
    return lost;
  }

  #forget(cell: CellMemory): void {
    this.#cells.delete(cell.id);
    this.#tell(cell.id, undefined);
  }

  #tell(cellId: number, delta: Uint8Array | undefined): void {
    const asking = this.#askedFor.get(cellId);
    if (asking === undefined) return;
    this.#askedFor.delete(cellId);
    for (const resolve of asking) resolve(delta);
  }
}

function isIn({ place }: CellMemory, thread: WorkerThread): boolean {
  return (place.kind === 'resident' && place.thread === thread) || (place.kind === 'moving' && place.from === thread);
}
