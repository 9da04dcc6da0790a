import type { Config } from '../../config/config-types.ts';
import type { Store } from '../../store/store-types.ts';

/** What is examined. `isServing` says that a daemon holds the port already. */
export interface DoctorFacts {
  readonly config: Config;
  readonly isServing: boolean;
  /** The store of the daemon that serves. */
  readonly store?: Pick<Store, 'problem' | 'examine'>;
}
