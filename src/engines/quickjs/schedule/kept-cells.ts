import { BoundedMap } from '../../../collections/bounded-map.ts';
import { quotas } from '../../../config/quotas.ts';
import type { CellMemory } from '../cell-call.ts';
import { ordinaryKey } from '../suspend/resumed-program.ts';

const maxIdleCells = quotas['cells.sessions'].inAll;
/** So many losses are remembered until a next call hears of them. */
const maxLosses = 4096;

/**
 * Cells that outlive a call, by cell key; when there are too many, whoever has most loses one. A cell that is lost
 * is remembered until its next call, which is told why it begins anew.
 */
export class KeptCells {
  readonly #cells = new Map<string, CellMemory>();
  readonly #losses = new BoundedMap<string, string>(maxLosses);
  readonly #drop: (cell: CellMemory) => void;

  constructor(drop: (cell: CellMemory) => void) {
    this.#drop = drop;
  }

  find(key: string): CellMemory | undefined {
    return this.#cells.get(key);
  }

  /** The cell of a key, created when there is none. */
  take(key: string, create: () => CellMemory): CellMemory {
    const cell = this.#cells.get(key) ?? create();
    this.#cells.delete(key);
    this.#cells.set(key, cell);
    return cell;
  }

  /** When there are too many: of the idle cells of the caller who has most of them, the one unused for longest. */
  findSuperfluous(): CellMemory | undefined {
    if (this.#cells.size <= maxIdleCells) return undefined;
    const idleByOwner = new Map<string, CellMemory[]>();
    for (const cell of this.#cells.values()) {
      if (cell.isInUse) continue;
      const { ownerId = '' } = cell;
      const idle = idleByOwner.get(ownerId);
      if (idle) idle.push(cell);
      else idleByOwner.set(ownerId, [cell]);
    }
    let most: readonly CellMemory[] = [];
    for (const idle of idleByOwner.values()) if (idle.length > most.length) most = idle;
    return most[0];
  }

  /** Puts the cell of a resumed call in place of the one that is there. */
  put(key: string, cell: CellMemory): void {
    this.drop(key);
    this.#cells.set(key, cell);
  }

  drop(key: string): void {
    const cell = this.#cells.get(key);
    if (!cell) return;
    this.#cells.delete(key);
    this.#drop(cell);
  }

  dropProgram(programKey: string): void {
    for (const [key, { program }] of [...this.#cells]) if (ordinaryKey(program.key) === programKey) this.drop(key);
  }

  /** The memory of a cell is gone: the next call of its key starts from the image. True when the cell was a kept one. */
  lose(lost: CellMemory, reason: string): boolean {
    for (const [key, cell] of this.#cells) {
      if (cell !== lost) continue;
      this.drop(key);
      this.#losses.set(key, reason);
      return true;
    }
    return false;
  }

  /** Why the cell of a key was lost since the last call in it; told once. */
  takeLoss(key: string): string | undefined {
    const reason = this.#losses.get(key);
    this.#losses.delete(key);
    return reason;
  }
}
