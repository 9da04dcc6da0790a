import type { Logger } from 'pino';
import type { Resolve } from '../capabilities/network/resolve.ts';
import type { Config } from '../config/config-types.ts';
import type { EventLog } from '../events/event.ts';
import { createEventLog } from '../events/event-log.ts';
import type { DaemonOptions } from '../operations/daemon-types.ts';
import { createSecretBook } from '../secrets/secret-book.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store-types.ts';
import { recoverInterrupted } from '../tools/execution-records.ts';
import type { Closers } from './closers.ts';

/** What every room of the daemon stands on. */
export interface Foundation {
  readonly config: Config;
  readonly version: string;
  readonly startedAtMs: number;
  readonly resolver: Resolve | undefined;
  readonly log: Logger;
  readonly closers: Closers;
  readonly store: Store;
  readonly secrets: ReturnType<typeof createSecretBook>;
  readonly events: EventLog;
  /** Writes a fault of the daemon itself to its log. Never throws. */
  readonly logFault: (error: unknown, id?: string) => void;
}

/** Opens the store, the secrets and the event log; calls that a crash cut off are ended first. */
export function layFoundation(options: DaemonOptions, closers: Closers): Foundation {
  const { config, version, log, resolver } = options;
  const startedAtMs = Date.now();
  const logFault = (error: unknown, id?: string) =>
    log.error({ err: error, ...(id === undefined ? {} : { id }) }, 'fault in the daemon');
  const store = openStore({ dataDir: config.dataDir, onWriteError: (error) => logFault(error) });
  closers.push(() => store.close());
  recoverInterrupted(store, startedAtMs);
  const secrets = createSecretBook({
    table: store.secrets,
    config: config.secrets,
    env: process.env,
    now: Date.now,
    onProblem: (sentence) => log.warn(sentence),
  });
  const { redactor } = secrets;
  options.onRedaction?.(redactor.json);
  const events = createEventLog({ store, now: Date.now, redact: redactor.value, onSubscriberError: (error) => logFault(error) });
  if (options.onEvent) closers.push(events.subscribe({}, options.onEvent));
  return { config, version, startedAtMs, resolver, log, closers, store, secrets, events, logFault };
}
