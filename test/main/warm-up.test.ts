import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/read/load.ts';
import type { EventEnvelope } from '../../src/events/event.ts';
import { startDaemon } from '../../src/main.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';

it('a start that warms up leaves neither plugin nor tool, event nor file, also when it ends at once', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'hotcell-warm-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const config = loadConfig({ flags: { port: 0 }, env: {}, cwd, parsePermissions });
  const events: EventEnvelope[] = [];
  const daemon = await startDaemon({
    config,
    version: '0.0.0',
    listen: true,
    warmUp: true,
    onEvent: (event) => events.push(event),
    log: createDaemonLog(),
  });
  expect(daemon.parts.plugins.list()).toEqual([]);
  expect(daemon.parts.tools.list().filter(({ source }) => source === 'plugin')).toEqual([]);
  await daemon.close('the test is over');
  expect(existsSync(join(config.dataDir, 'warm-up'))).toBe(false);
  expect(events.map(({ type }) => type)).toEqual(['tools-change', 'daemon-start', 'daemon-stop']);
});
