import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Settings } from '../../src/config/schema.ts';
import type { EventDataByType } from '../../src/events/event-table.ts';
import { daemonContracts } from '../../src/operations/contracts/daemon.ts';
import { mcpContracts } from '../../src/operations/contracts/mcp.ts';
import { fewThreads } from '../data-dir.ts';
import { type DaemonHouse, openDaemonHouse } from '../promises/daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from '../promises/daemon-process.ts';

const units = `export default {
  permissions: { kv: true },
  tools: {
    units: { handler: (_args, context) => context.config.get('units') ?? 'none' },
    keep: { handler: async (_args, context) => { await context.kv.set('a', 1); return 'kept'; } },
    spin: { handler: () => { for (;;); } },
  },
};`;
const first: Settings = { port: 0, ...fewThreads, plugins: { weather: { units: 'metric' } } };
let folder: string;
let file: string;
let house: DaemonHouse;

async function open(): Promise<void> {
  folder = makeDaemonFolder({ 'weather.ts': units });
  rmSync(join(folder, 'hotcell.config.json'));
  file = join(folder, 'hotcell.config.yaml');
  writeFileSync(file, stringify(first));
  house = await openDaemonHouse(folder, {}, {}, { SKILLS_MAX_FILE_BYTES: '1000' });
}

async function close(): Promise<void> {
  await house.close();
  removeDaemonFolder(folder);
}

/** Saves the config and waits until the daemon has told what it made of it. */
async function save(text: string): Promise<EventDataByType['config-change']> {
  const lastSeq = house.events.at(-1)?.seq ?? 0;
  writeFileSync(file, text);
  await house.event('config-change', ({ seq }) => seq > lastSeq);
  const told = house.events.findLast(({ type }) => type === 'config-change');
  if (told?.type !== 'config-change') throw new Error('nothing was told');
  return told.data;
}

describe('an edit of the config file while the daemon runs', () => {
  beforeAll(open);
  afterAll(close);
  // Each test ends where the next begins.
  afterEach(async () => {
    if (readFileSync(file, 'utf8') !== stringify(first)) await save(stringify(first));
  });

  it('takes over what plugins read, what they are granted and their limits', async () => {
    expect((await house.call('units')).output).toBe('metric');
    expect((await house.call('keep')).error?.code).toBe('permission-denied');
    const told = await save(
      stringify({
        ...first,
        plugins: { weather: { units: 'imperial' } },
        grants: { weather: { kv: true } },
        pluginLimits: { weather: { wallMs: 200 } },
      }),
    );
    expect(told).toEqual({ path: file, applied: ['grants', 'plugins', 'pluginLimits'], restart: [] });
    expect((await house.call('units')).output).toBe('imperial');
    expect((await house.call('keep')).output).toBe('kept');
    const stateOf = () => house.daemon.parts.plugins.get('weather').state;
    expect(stateOf()).toBe('ready');
    expect((await house.call('spin')).error?.message).toContain('200 ms');
    // What is taken out of the file is taken back.
    await save(stringify(first));
    expect(stateOf()).toBe('pending-grant');
    expect((await house.call('keep')).error?.code).toBe('permission-denied');
  });

  it('switches all tools off and on', async () => {
    await save(stringify({ ...first, tools: { enabled: false } }));
    await expect(house.call('units')).rejects.toMatchObject({ code: 'tools-disabled' });
    await save(stringify(first));
    expect((await house.call('units')).output).toBe('metric');
  });

  it('lets callers without a token in, and no more', async () => {
    const callUnits = () =>
      fetch(`${house.url}/api/tools/units/call`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    expect((await callUnits()).status).toBe(401);
    await save(stringify({ ...first, anonymous: { enabled: true, tools: ['units'] } }));
    expect((await callUnits()).status).toBe(200);
    await save(stringify(first));
    expect((await callUnits()).status).toBe(401);
  });

  it('names what waits for a restart, until the file says again what is in force', async () => {
    const told = await save(
      stringify({ ...first, workers: { ...fewThreads.workers, max: 7 }, grantRequested: true, log: { level: 'debug' } }),
    );
    expect(told).toEqual({ path: file, applied: ['log.level'], restart: ['grantRequested', 'workers.max'] });
    const status = await house.client.invoke(daemonContracts.status, {});
    expect(status.config).toEqual({ file, restart: ['grantRequested', 'workers.max'] });
    const { items } = await house.client.invoke(daemonContracts.doctor, {});
    expect(items.find(({ name }) => name === 'config')).toMatchObject({
      status: 'warn',
      message: `${file} was edited: grantRequested, workers.max wait for a restart.`,
    });
    // What is not in force is not shown as if it were.
    const { config } = await house.client.invoke(daemonContracts.config, {});
    expect(config).toMatchObject({ grantRequested: false, log: { level: 'debug' } });
    await save(stringify(first));
    expect((await house.client.invoke(daemonContracts.status, {})).config?.restart).toEqual([]);
  });

  it('keeps what is in force when the file cannot be used, and says the line', async () => {
    const wrong = await save('port: 0\nplugins:\n  weather:\n    units: imperial\nqueue:\n  maxPendin: 3\n');
    expect(wrong).toMatchObject({ applied: [], restart: [] });
    expect(wrong.problem).toBe(
      `${file}:6: queue.maxPendin is not a known key. Did you mean "maxPending" or "maxPendingPerCaller"?`,
    );
    expect((await house.call('units')).output).toBe('metric');
    expect((await house.client.invoke(daemonContracts.status, {})).config?.problem).toContain('maxPendin');
    expect((await house.client.invoke(mcpContracts.list, {})).configProblem).toContain('maxPendin');
    expect((await save('port: 0\nplugins: {\n')).problem).toMatch(/is not YAML at line \d+/);
    expect((await house.call('units')).output).toBe('metric');
    expect((await save(stringify({ ...first, plugins: {} }))).problem).toBeUndefined();
    expect((await house.call('units')).output).toBe('none');
  });

  it('says nothing of a save that changes no text, and that flags and environment still win', async () => {
    const countChanges = () => house.events.filter(({ type }) => type === 'config-change').length;
    const before = countChanges();
    writeFileSync(file, readFileSync(file, 'utf8'));
    expect(await save(stringify({ ...first, files: { maxFileBytes: 2000 } }))).toEqual({ path: file, applied: [], restart: [] });
    expect(countChanges()).toBe(before + 1);
  });
});

describe('a config file that is no such file any more', () => {
  beforeEach(open);
  afterEach(close);

  it('says that two files are one too many', async () => {
    writeFileSync(join(folder, 'hotcell.config.json'), '{}');
    await house.event('config-change', ({ data }) => data.problem?.includes('more than one config file') === true);
    expect((await house.call('units')).output).toBe('metric');
  });

  it('goes on where the file becomes a pipe, which keeps its reader until somebody writes', async () => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
    writeFileSync(join(folder, 'told'), stringify({ ...first, plugins: { weather: { units: 'piped' } } }));
    // Waits until somebody reads, and tells whoever does what they should not have read.
    const writer = spawn('sh', ['-c', 'while :; do cat "$0" > "$1"; done', join(folder, 'told'), file], { stdio: 'ignore' });
    await house.event('config-change', () => true);
    expect((await house.call('units')).output).toBe('none');
    expect(writer.exitCode).toBeNull();
    writer.kill('SIGKILL');
  });

  it('goes on where the file becomes a device, which has no end', async () => {
    rmSync(file);
    symlinkSync('/dev/zero', file);
    await house.event('config-change', () => true);
    expect((await house.call('units')).output).toBe('none');
  });

  it('runs the code of a config with code no second time, and says that it waits for a restart', async () => {
    const code = join(folder, 'own.config.ts');
    writeFileSync(code, `export default ${JSON.stringify(first)};`);
    await house.close();
    house = await openDaemonHouse(folder, { config: code });
    writeFileSync(code, `export default ${JSON.stringify({ ...first, plugins: {} })};`);
    await house.event('config-change', ({ data }) => data.path === code && data.restart.includes('own.config.ts'));
    expect((await house.call('units')).output).toBe('metric');
  });

  it('looks at the file that was named, and at none beside it', async () => {
    const named = join(folder, 'named.yaml');
    writeFileSync(named, stringify(first));
    await house.close();
    house = await openDaemonHouse(folder, { config: named });
    writeFileSync(file, stringify({ ...first, plugins: {} }));
    writeFileSync(named, stringify({ ...first, plugins: { weather: { units: 'imperial' } } }));
    await house.event('config-change', ({ data }) => data.path === named && data.applied.includes('plugins'));
    expect((await house.call('units')).output).toBe('imperial');
  });

  it('treats a file that is gone as one that says nothing', async () => {
    rmSync(file);
    await house.event('config-change', () => true);
    expect((await house.call('units')).output).toBe('none');
  });
});
