import type { Config } from '../../config/config-types.ts';
import type { ConfigState } from '../../config/live.ts';
import type { ProviderState } from '../../models/catalog.ts';
import type { Store } from '../../store/store-types.ts';
import type { Finding } from '../contracts/daemon.ts';

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

/** What one check found. */
export type Examination = Omit<Finding, 'name'>;

/** Looks at one thing; `fail` is what Hotcell cannot work with. */
export type Check = (facts: DoctorFacts) => Examination | Promise<Examination>;

/** All is well. */
export const ok = (message: string): Examination => ({ status: 'ok', message });
/** Nothing that is needed is amiss. */
export const info = (message: string, fix?: string): Examination => ({
  status: 'info',
  message,
  ...(fix !== undefined && { fix }),
});
/** Something that is wanted does not work. */
export const warn = (message: string, fix: string): Examination => ({ status: 'warn', message, fix });
/** Hotcell does not work. */
export const fail = (message: string, fix: string): Examination => ({ status: 'fail', message, fix });
