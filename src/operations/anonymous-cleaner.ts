import { deleteAnonymousFolders } from '../capabilities/files/workspaces.ts';
import { anonymousPrefix } from '../config/counted-callers.ts';
import type { Store } from '../store/store-types.ts';

/**
 * Deletes what callers without a token leave behind: files and values. Their executions stay, for the operator to see. `onFault`
 * hears what could not be deleted; it must not throw.
 */
export function createAnonymousCleaner(parts: {
  readonly store: Pick<Store, 'kv'>;
  readonly dataDir: string;
  readonly onFault: (error: unknown) => void;
}) {
  const { store, dataDir, onFault } = parts;
  async function forget(prefix: string, callerId?: string): Promise<void> {
    try {
      store.kv.forgetOwners(prefix);
      await deleteAnonymousFolders(dataDir, callerId);
    } catch (error) {
      onFault(error);
    }
  }
  return {
    /** Of one anonymous caller. Does not reject. */
    forget: (callerId: string) => forget(callerId, callerId),
    /** Of all: what a daemon that crashed did not get to. */
    forgetAll: () => forget(anonymousPrefix),
  };
}
