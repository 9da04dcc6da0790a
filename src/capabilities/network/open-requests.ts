import type { CapabilityUser } from '../../border/capability-user.ts';
import { createPlaceCount, type HeldPlace } from '../../concurrency/place-count.ts';
import { countedAs } from '../../config/counted-callers.ts';
import type { PlaceBounds } from '../../config/quotas/quota.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

/** Requests and connections of plugins that are open: each is a descriptor of the daemon. */
export type OpenRequests = ReturnType<typeof createOpenRequests>;

/** Creates the count; admins have a reserve. */
export function createOpenRequests(bounds: PlaceBounds = quotas['network.open']) {
  const count = createPlaceCount(bounds);
  const holderOf = ({ caller, unitPath, isAdmin = false }: CapabilityUser) => ({
    callerId: countedAs(caller),
    unitPath,
    isAdmin,
  });
  const whose = { caller: 'of this caller', plugin: 'of this plugin', all: 'of all callers' };
  return {
    /** Counts one in. Throws `queue-full` at the bound of the caller, of the plugin or of all. */
    open(user: CapabilityUser): HeldPlace {
      const holder = holderOf(user);
      const full = count.findFull(holder);
      if (full === undefined) return count.take(holder);
      throw new HotcellError('queue-full', `${full.max} requests and connections ${whose[full.bound]} are open already.`, {
        fix: 'Read responses to their end or cancel them, and try again.',
      });
    },
    /** Counts in what follows on one that is counted: it is never refused. */
    goOn: (user: CapabilityUser): HeldPlace => count.take(holderOf(user)),
  };
}
