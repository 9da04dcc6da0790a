import type { Resolve } from '../capabilities/network/resolve.ts';
import type { Config } from '../config/config-types.ts';
import type { createQuickJsEngine } from '../engines/quickjs/engine.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { SchemaReader } from '../plugins/schema/schema-types.ts';
import type { DaemonLog } from '../secrets/daemon-log.ts';
import type { createTypeChecker } from '../typescript/checker.ts';
import type { Operation } from './operation.ts';
import type { OperationParts } from './operation-parts.ts';

/** How long calls may run on when the daemon stops. */
export const drainMs = 5_000;

/** How a daemon is started. */
export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  /** False runs everything but the doors: for commands that work without a daemon. */
  readonly listen: boolean;
  /** Sees every event from the start on. Must not throw. */
  readonly onEvent?: (event: EventEnvelope) => void;
  readonly log: DaemonLog;
  /** Gets ready for the first save once it serves. */
  readonly warmUp?: boolean;
  /** Reads the config again as it was read for this start; without it an edit of the file counts at the next start. */
  readonly reread?: { readonly cwd: string; readonly readConfig: () => Promise<Config> };
  /** Stands in for the resolver of the operating system, for whatever plugins reach. */
  readonly resolver?: Resolve;
  /** Reads types for several daemons of one process, and is closed with none of them; without it the daemon opens its own. */
  readonly schemaReader?: SchemaReader;
  /** Opens what checks types for it, over threads that several daemons of one process may share; without it they are its own. */
  readonly openChecker?: typeof createTypeChecker;
  /** Starts the engine of QuickJS, whose threads several daemons of one process may hand each other; without it they are its own. */
  readonly openQuickJs?: typeof createQuickJsEngine;
}

/** A running daemon. */
export interface Daemon {
  /** Where it listens; absent when it does not. */
  readonly url?: string;
  readonly token: string;
  readonly parts: OperationParts;
  readonly operations: readonly Operation[];
  /** Stops everything in reverse order. */
  close(reason: string): Promise<void>;
}

/** The entry of the composition root. */
export type StartDaemon = (options: DaemonOptions) => Promise<Daemon>;
