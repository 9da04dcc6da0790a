import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));
const olderNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return Number.parseInt(stdout?.slice(1) ?? '24', 10) < 24;
});

it.skipIf(olderNode === undefined)(
  'a daemon that an older Node launched ends when its launcher is killed outright',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-launcher-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const launcher = spawn(olderNode ?? '', [bin, 'start', '--port', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const isUp = () => existsSync(join(folder, '.hotcell', 'daemon.json'));
    await expect.poll(isUp, { timeout: 60_000 }).toBe(true);
    launcher.kill('SIGKILL');
    // The daemon has its launcher's standard output: that ends when both are gone.
    const ended = Promise.withResolvers<void>();
    launcher.stdout.on('data', () => undefined).on('end', ended.resolve);
    await ended.promise;
    expect(isUp()).toBe(false);
  },
  120_000,
);
