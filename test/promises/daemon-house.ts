import { join } from 'node:path';
import type { CallAnswer } from '../../src/calls/call-types.ts';
import { type Client, createHttpClient } from '../../src/client/client.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import type { CliFlags } from '../../src/config/read/sources.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import type { EventType } from '../../src/events/event-table.ts';
import { startDaemon } from '../../src/main.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import type { Daemon, DaemonOptions } from '../../src/operations/daemon-types.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { giveWarmCache } from '../data-dir.ts';
import { sharedTypes } from '../shared-builds.ts';

/** A whole daemon in this process, with its doors open. */
export interface DaemonHouse {
  readonly daemon: Daemon;
  readonly folder: string;
  readonly pluginDir: string;
  readonly url: string;
  readonly token: string;
  readonly client: Client;
  /** Every event since the start but those of executions, which would fill the memory that is measured. */
  readonly events: readonly EventEnvelope[];
  call(ref: string, args?: Record<string, unknown>): Promise<CallAnswer>;
  /** The first event, past or to come, that fits. */
  event<Type extends EventType>(type: Type, fits: (event: Extract<EventEnvelope, { type: Type }>) => boolean): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts a daemon over a folder that `makeDaemonFolder` made. */
export async function openDaemonHouse(
  folder: string,
  flags: CliFlags = {},
  options: Pick<DaemonOptions, 'resolver'> = {},
  env: NodeJS.ProcessEnv = {},
): Promise<DaemonHouse> {
  const readConfig = () => loadConfig({ flags, env, cwd: folder, parsePermissions });
  const reread = { cwd: folder, readConfig: async () => readConfig() };
  const events: EventEnvelope[] = [];
  const listeners = new Set<(event: EventEnvelope) => void>();
  const onEvent = (event: EventEnvelope) => {
    if (!event.type.startsWith('execution-')) events.push(event);
    for (const listener of listeners) listener(event);
  };
  const log = createDaemonLog();
  const config = readConfig();
  giveWarmCache(config.dataDir);
  const daemon = await startDaemon({
    ...options,
    config,
    reread,
    ...sharedTypes,
    version: '0.0.0',
    listen: true,
    onEvent,
    log,
  });
  const { url = '', token } = daemon;
  const client = createHttpClient({ url, token });
  let closed: Promise<void> | undefined;
  return {
    daemon,
    folder,
    pluginDir: join(folder, 'plugins'),
    url,
    token,
    client,
    events,
    call: (ref, args = {}) => client.invoke(toolContracts.call, { ref, arguments: args }),
    event(type, fits) {
      const { promise, resolve } = Promise.withResolvers<EventEnvelope>();
      const look = (event: EventEnvelope) => {
        if (isOfType(event, type) && fits(event)) resolve(event);
      };
      events.forEach(look);
      listeners.add(look);
      return promise.finally(() => listeners.delete(look));
    },
    close: () => (closed ??= daemon.close('the test is over')),
  };
}

function isOfType<Type extends EventType>(event: EventEnvelope, type: Type): event is Extract<EventEnvelope, { type: Type }> {
  return event.type === type;
}
