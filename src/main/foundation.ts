import type { Logger } from 'pino';
import { recoverInterrupted } from '../calls/record/execution-records.ts';
import type { Resolve } from '../capabilities/network/resolve.ts';
import type { Config } from '../config/config-types.ts';
import { createQuickJsEngine } from '../engines/quickjs/engine.ts';
import type { EventLog } from '../events/event.ts';
import { createEventLog } from '../events/event-log.ts';
import type { DaemonOptions } from '../operations/daemon-types.ts';
import type { SchemaReader } from '../plugins/schema/schema-types.ts';
import { createSecretRegistry } from '../secrets/secret-registry.ts';
import { openStore } from '../store/open.ts';
import { findStorageError } from '../store/sqlite-error.ts';
import type { Store } from '../store/store-types.ts';
import { createTypeChecker } from '../typescript/checker.ts';
import type { Closers } from './closers.ts';
import { type OpenConfig, openConfig } from './config-watch.ts';

/** What every room of the daemon stands on. */
export interface Foundation {
  /** Of it some keys follow the file: read them each time. */
  readonly config: Config;
  readonly openedConfig: OpenConfig;
  readonly version: string;
  readonly startedAtMs: number;
  readonly resolver: Resolve | undefined;
  readonly schemaReader: SchemaReader | undefined;
  readonly openChecker: typeof createTypeChecker;
  readonly openQuickJs: typeof createQuickJsEngine;
  readonly log: Logger;
  readonly closers: Closers;
  readonly store: Store;
  readonly secrets: ReturnType<typeof createSecretRegistry>;
  readonly events: EventLog;
  /** Writes a fault of the daemon itself to its log. Never throws. */
  readonly logFault: (error: unknown, id?: string) => void;
}

const sayAgainMs = 60_000;

/** Opens the store, the secrets and the event log; calls that a crash cut off are ended first. */
export function layFoundation(options: DaemonOptions, closers: Closers): Foundation {
  const { version, resolver, schemaReader, openChecker = createTypeChecker, openQuickJs = createQuickJsEngine } = options;
  const log = options.log.logger;
  const openedConfig = openConfig(options.config, options.reread?.cwd ?? '');
  const { config } = openedConfig;
  const startedAtMs = Date.now();
  const { dataDir } = config;
  const lastSaid = new Map<string, number>();
  const logFault = (error: unknown, id?: string) => {
    const storage = findStorageError(error);
    if (storage === undefined) return log.error({ err: error, ...(id === undefined ? {} : { id }) }, 'fault in the daemon');
    // A full disk stops many things at once, and again and again: a line tells it, not a stack each time.
    const { code, message } = storage;
    if (performance.now() - (lastSaid.get(code) ?? Number.NEGATIVE_INFINITY) < sayAgainMs) return;
    lastSaid.set(code, performance.now());
    log.error({ code }, message);
  };
  let told: EventLog | undefined;
  const store = openStore({
    dataDir,
    onWriteError: (error) => logFault(error),
    onProblem(problem) {
      const message = problem?.message ?? 'What happens is recorded again.';
      if (problem === undefined) log.info(message);
      else logFault(problem);
      told?.publish('storage-problem', { subject: 'daemon', data: { path: dataDir, message } });
    },
  });
  closers.push(() => store.close());
  recoverInterrupted(store, startedAtMs);
  const secrets = createSecretRegistry({
    table: store.secrets,
    config: config.secrets,
    env: process.env,
    now: Date.now,
    onProblem: (sentence) => log.warn(sentence),
  });
  const { redactor } = secrets;
  options.log.redactWith(redactor.json);
  const events = createEventLog({ store, now: Date.now, redact: redactor.value, onSubscriberError: (error) => logFault(error) });
  told = events;
  if (options.onEvent) closers.push(events.subscribe({}, options.onEvent));
  return {
    config,
    openedConfig,
    version,
    startedAtMs,
    resolver,
    schemaReader,
    openChecker,
    openQuickJs,
    log,
    closers,
    store,
    secrets,
    events,
    logFault,
  };
}
