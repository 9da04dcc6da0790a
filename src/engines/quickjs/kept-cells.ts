import type { CellMemory } from './active-call.ts';
import { ordinaryKey } from './resumed-program.ts';

const MAX_IDLE_CELLS = 256;

/** Cells that outlive a call, by cell key; the ones unused for longest are dropped when there are too many. */
export class KeptCells {
  readonly #cells = new Map<string, CellMemory>();
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
    if (this.#cells.size > MAX_IDLE_CELLS) {
      const [oldest] = this.#cells.keys();
      if (oldest !== undefined) this.drop(oldest);
    }
    return cell;
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

  /** The memory of a cell is gone: the next call of its key starts from the image. */
  lose(lost: CellMemory): void {
    for (const [key, cell] of this.#cells) if (cell === lost) this.#cells.delete(key);
  }
}
