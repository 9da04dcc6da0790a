import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { giveWarmCache } from '../data-dir.ts';
import { echoPlugin, openTerminal } from './terminal.ts';

const run = promisify(execFile);
const bin = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));
const olderNode = await findOlderNode();

/** A Node before 24, where this machine has one beside the one that runs the tests. */
async function findOlderNode(): Promise<string | undefined> {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const file of [...files, '/usr/bin/node', '/usr/local/bin/node'].filter((each) => existsSync(each))) {
    const { stdout } = await run(file, ['--version']);
    if (Number.parseInt(stdout.slice(1), 10) < 24) return file;
  }
  return undefined;
}

describe('bin/hotcell.js', () => {
  it('runs a command and passes its exit code on, saying nothing of its own', async () => {
    const { stdout, stderr } = await run(process.execPath, [bin, '--version']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/), '']);
    await expect(run(process.execPath, [bin, 'plugn'])).rejects.toMatchObject({ code: 2 });
  });

  it('starts a daemon that ends on SIGTERM with 0', async () => {
    const terminal = openTerminal({ 'plugins/echo.ts': echoPlugin });
    giveWarmCache(join(terminal.cwd, '.hotcell'));
    const child = spawn(olderNode ?? process.execPath, [bin, 'start', '--port', '0'], { cwd: terminal.cwd });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (text.includes('listening on')) child.kill('SIGTERM');
    });
    const [code] = await once(child, 'exit');
    expect([code, text]).toEqual([0, expect.stringContaining('listening on http://127.0.0.1:')]);
    expect(existsSync(join(terminal.cwd, '.hotcell', 'daemon.json'))).toBe(false);
    terminal.close();
  });

  it('ends the daemon of a data directory, and waits until it has ended', async () => {
    const terminal = openTerminal({ 'plugins/echo.ts': echoPlugin });
    giveWarmCache(join(terminal.cwd, '.hotcell'));
    const child = spawn(process.execPath, [bin, 'start', '--port', '0'], { cwd: terminal.cwd });
    const ended = once(child, 'exit');
    // Its output stays open: a daemon whose terminal is gone ends.
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => String(chunk).includes('listening on') && resolve());
    });
    const { code, out } = await terminal.run(['stop']);
    expect([code, out]).toEqual([0, expect.stringContaining('has ended')]);
    expect(await ended).toEqual([0, null]);
    expect((await terminal.run(['stop'])).code).toBe(3);
    terminal.close();
  });

  it('speaks to a daemon of an older program, and says that the program has changed', async () => {
    const terminal = openTerminal({ 'plugins/echo.ts': echoPlugin });
    giveWarmCache(join(terminal.cwd, '.hotcell'));
    const child = spawn(process.execPath, [bin, 'start', '--port', '0'], { cwd: terminal.cwd });
    const ended = once(child, 'exit');
    // Its output stays open: a daemon whose terminal is gone ends.
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => String(chunk).includes('listening on') && resolve());
    });
    const ask = (...words: string[]) => run(process.execPath, [bin, ...words], { cwd: terminal.cwd });
    expect(await ask('status')).toMatchObject({ stderr: '' });
    const file = join(terminal.cwd, '.hotcell', 'daemon.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"build":"[0-9a-f]+"/, '"build":"older"'));
    expect((await ask('status')).stderr).toContain('The program has changed since the daemon started');
    expect((await ask('call', 'echo', 'text=hi')).stdout).toContain('hi');
    expect((await ask('plugin', 'list')).stdout).toContain('echo');
    child.kill('SIGTERM');
    await ended;
    terminal.close();
  });

  it.runIf(olderNode !== undefined)('replaces an older Node by the bundled one', async () => {
    const { stdout, stderr } = await run(olderNode ?? '', [bin, '--help']);
    expect([stdout, stderr]).toEqual([expect.stringContaining('Usage: hotcell'), '']);
  });

  it.runIf(olderNode !== undefined)('says in one sentence what it needs where there is no bundled Node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hotcell-bin-'));
    mkdirSync(join(folder, 'bin'));
    copyFileSync(bin, join(folder, 'bin', 'hotcell.cjs'));
    const refused = run(olderNode ?? '', [join(folder, 'bin', 'hotcell.cjs'), 'plugin', 'list']);
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^hotcell needs Node 24 .*\n$/),
    });
    rmSync(folder, { recursive: true });
  });
});
