import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load.ts';
import { runDoctor } from '../../../src/operations/doctor/run-doctor.ts';
import { parsePermissions } from '../../../src/permissions/parse.ts';

async function examine(cwd: string, port: number) {
  const config = loadConfig({ flags: { port }, env: {}, cwd, parsePermissions });
  const { ok, items } = await runDoctor({ config, isServing: false });
  return { ok, of: (name: string) => items.find((item) => item.name === name) };
}

describe('runDoctor', () => {
  it('finds a port that is taken, and says how to go on', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-doctor-'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { ok, of } = await examine(cwd, port);
    expect([ok, of('port')]).toMatchObject([false, { status: 'fail', fix: expect.stringContaining('--port') }]);
    await new Promise((resolve) => server.close(resolve));
    expect((await examine(cwd, port)).of('port')?.status).toBe('ok');
    rmSync(cwd, { recursive: true });
  });

  it('warns of a database that a daemon holds while it begins', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-doctor-'));
    mkdirSync(join(cwd, '.hotcell'));
    const held = new DatabaseSync(join(cwd, '.hotcell', 'hotcell.db'));
    held.exec('create table kept (one text); begin exclusive');
    expect((await examine(cwd, 0)).of('database')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('hotcell doctor'),
    });
    held.close();
    expect((await examine(cwd, 0)).of('database')?.status).toBe('ok');
    rmSync(cwd, { recursive: true });
  });

  it('warns of a data directory that others can read', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-doctor-'));
    mkdirSync(join(cwd, '.hotcell'));
    chmodSync(join(cwd, '.hotcell'), 0o755);
    expect((await examine(cwd, 0)).of('data directory')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('chmod 700'),
    });
    chmodSync(join(cwd, '.hotcell'), 0o700);
    expect((await examine(cwd, 0)).of('data directory')?.status).toBe('ok');
    rmSync(cwd, { recursive: true });
  });
});
