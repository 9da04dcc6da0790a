import type { CellContainer } from '../container/container.ts';
import type { ContainerPlan } from '../container/container-flags.ts';

/** What a pool is made with. */
interface WarmPoolParts {
  readonly start: (plan: ContainerPlan) => Promise<CellContainer>;
  /** Ready ones for each kind of container that was asked for lately. */
  readonly perKind: number;
  /** Ready ones of all kinds. */
  readonly total: number;
  /** A kind that nobody asked for so long is not kept ready. */
  readonly idleMs: number;
  /** Must not throw. */
  readonly onFault: (error: unknown) => void;
}

interface Shelf {
  readonly plan: ContainerPlan;
  ready: CellContainer[];
  usedAtMs: number;
  filling: Promise<void> | undefined;
}

/** Containers that are started before anybody asks; each is handed out once. */
export function createWarmPool({ start, perKind, total, idleMs, onFault }: WarmPoolParts) {
  const shelves = new Map<string, Shelf>();
  let isClosed = false;
  const discard = (cell: CellContainer) => cell.remove().catch(onFault);
  const count = () => [...shelves.values()].reduce((sum, shelf) => sum + shelf.ready.length, 0);

  const isWanted = (shelf: Shelf) => !isClosed && shelves.get(nameKind(shelf.plan)) === shelf;

  async function fill(shelf: Shelf): Promise<void> {
    while (isWanted(shelf) && shelf.ready.length < perKind && count() < total) {
      const cell = await start(shelf.plan);
      // The pool was closed or the kind given up meanwhile: nobody would ever find it again.
      if (!isWanted(shelf)) return void (await discard(cell));
      cell.link.listen({
        onDown: () => {
          shelf.ready = shelf.ready.filter((other) => other !== cell);
          void discard(cell);
        },
      });
      if (!cell.link.isDown) shelf.ready.push(cell);
    }
  }

  const refill = (shelf: Shelf): void => {
    if (perKind === 0) return;
    // A kind that cannot be made ready is tried again by the next command, which then says why.
    shelf.filling ??= fill(shelf)
      .catch(onFault)
      .finally(() => {
        shelf.filling = undefined;
      });
  };

  const sweeper = setInterval(
    () => {
      for (const [kind, shelf] of shelves) {
        if (performance.now() - shelf.usedAtMs < idleMs || shelf.filling !== undefined) continue;
        shelves.delete(kind);
        for (const cell of shelf.ready.splice(0)) void discard(cell);
      }
    },
    Math.min(idleMs, 30_000),
  );
  sweeper.unref();

  return {
    /** A ready container, or a new one; the next is made ready meanwhile. */
    take: async (plan: ContainerPlan): Promise<CellContainer> => {
      const kind = nameKind(plan);
      const shelf = shelves.get(kind) ?? { plan, ready: [], usedAtMs: 0, filling: undefined };
      shelves.set(kind, shelf);
      shelf.usedAtMs = performance.now();
      const ready = shelf.ready.shift();
      // A cold start goes first: what is made ready for later would only slow it down.
      const cell = ready ?? (await start(plan));
      refill(shelf);
      return cell;
    },
    /** Resolves when no container is being made ready. */
    settled: async (): Promise<void> => {
      await Promise.all([...shelves.values()].map((shelf) => shelf.filling));
    },
    /** Removes all that wait. */
    close: async (): Promise<void> => {
      isClosed = true;
      clearInterval(sweeper);
      const waiting = [...shelves.values()];
      shelves.clear();
      await Promise.all(waiting.map((shelf) => shelf.filling));
      await Promise.all(waiting.flatMap((shelf) => shelf.ready.splice(0)).map(discard));
    },
  };
}

/** Containers of one kind can stand in for each other. */
function nameKind(plan: ContainerPlan): string {
  return JSON.stringify([plan.imageId, plan.size]);
}
