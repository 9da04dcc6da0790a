import type { Config } from '../../config/config-types.ts';
import type { ConfigState } from '../../config/live.ts';
import type { ProviderState } from '../../models/catalog.ts';
import type { Store } from '../../store/store-types.ts';

/** What is examined. `isServing` says that a daemon holds the port already. */
export interface DoctorFacts {
  /** The providers of models, as the daemon that serves sees them. */
  readonly providers?: readonly ProviderState[];
  readonly config: Config;
  readonly isServing: boolean;
  /** Where the config file stands to the config of the daemon that serves. */
  readonly configState?: ConfigState;
  /** The store of the daemon that serves. */
  readonly store?: Pick<Store, 'problem' | 'examine'>;
}
