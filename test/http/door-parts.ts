import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/read/load.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import type { EventType } from '../../src/events/event-table.ts';
import { startDaemon } from '../../src/main.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { giveWarmCache } from '../data-dir.ts';
import { sharedTypes } from '../shared-builds.ts';

const echo = `export default {
  name: 'echo', version: '1.0.0', description: 'Says it again.', tags: ['text'],
  parameters: { type: 'object' },
  examples: [{ args: { text: 'a' }, expect: { text: 'a' } }],
  handler: (args, context) => { context.log.info('echo says', args.text); return args; },
}`;

const waits = `export default {
  name: 'waits', version: '1.0.0', description: 'Waits for a minute.', parameters: { type: 'object' },
  handler: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
}`;

/** A daemon in a folder of its own, with the plugins echo and waits, and ways to ask it. */
export async function openDoor() {
  const cwd = mkdtempSync(join(tmpdir(), 'hotcell-door-'));
  mkdirSync(join(cwd, 'plugins'));
  writeFileSync(join(cwd, 'plugins', 'echo.ts'), echo);
  writeFileSync(join(cwd, 'plugins', 'waits.ts'), waits);
  writeFileSync(
    join(cwd, 'hotcell.config.json'),
    JSON.stringify({
      port: 0,
      http: { allowedHosts: ['hotcell.example'] },
      plugins: { weather: { apiKey: 'very-secret' } },
      env: { TOKEN: 'very-secret' },
      workers: { min: 1, max: 1 },
    }),
  );
  const config = loadConfig({ flags: {}, env: {}, cwd, parsePermissions });
  giveWarmCache(config.dataDir);
  const daemon = await startDaemon({
    config,
    ...sharedTypes,
    version: '9.9.9',
    listen: true,
    log: createDaemonLog(),
  });
  const { url = '', token, operations, parts } = daemon;
  return {
    url,
    token,
    cwd,
    operations,
    events: parts.events,
    keys: parts.keys,
    approvals: parts.approvals,
    schedules: parts.schedules,
    store: parts.store,
    fetch: (path: string, init: RequestInit = {}) =>
      fetch(url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } }),
    /** The next event of a type about a tool. */
    nextEvent<Type extends EventType>(type: Type, fits: (event: Extract<EventEnvelope, { type: Type }>) => boolean) {
      const { promise, resolve } = Promise.withResolvers<EventEnvelope>();
      const end = parts.events.subscribe({ types: [type] }, (event) => {
        if (isOfType(event, type) && fits(event)) resolve(event);
      });
      return promise.finally(end);
    },
    async close() {
      await daemon.close('the test is over');
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

/** What `openDoor` gives. */
export type Door = Awaited<ReturnType<typeof openDoor>>;

function isOfType<Type extends EventType>(event: EventEnvelope, type: Type): event is Extract<EventEnvelope, { type: Type }> {
  return event.type === type;
}

/** The JSON of an answer; tests look into it freely. */
export async function readJson(response: Response): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await response.text());
}
