import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

const maxRunning = quotas['door.requests'].each.max;

/** Creates the book of the requests of one client that are under way, whatever they came over. */
export function createRunningRequests() {
  const controllersById = new Map<unknown, AbortController>();
  let count = 0;
  return {
    /** Takes one in; a notification has no id. Throws `rate-limited` when there are too many. */
    enter(id: string | number | undefined): { readonly signal: AbortSignal; readonly leave: () => void } {
      if (count >= maxRunning) {
        throw new HotcellError('rate-limited', `A connection may have ${maxRunning} requests under way at once.`);
      }
      count++;
      const controller = new AbortController();
      if (id !== undefined) controllersById.set(id, controller);
      return {
        signal: controller.signal,
        leave() {
          count--;
          // A client may give the same id to a later one.
          if (controllersById.get(id) === controller) controllersById.delete(id);
        },
      };
    },
    /** Aborts the one with this id; false when none has it. */
    cancel(id: unknown): boolean {
      const controller = controllersById.get(id);
      controller?.abort();
      return controller !== undefined;
    },
  };
}
