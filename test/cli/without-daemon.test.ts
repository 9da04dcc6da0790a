import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoPlugin, openTerminal } from './terminal.ts';

describe('a command without a daemon', () => {
  it.each([
    ['tool', 'list'],
    ['tool', 'info', 'echo'],
    ['call', 'echo'],
    ['plugin', 'list'],
    ['plugin', 'test', 'echo'],
    ['skill', 'list'],
    ['kv', 'list', 'echo'],
    ['images'],
    ['status'],
    ['stop'],
    ['logs'],
  ])('makes nothing in a folder that is not of Hotcell, and says where it looked: %s %s', async (...argv) => {
    const { cwd, run, close } = openTerminal({ 'notes.txt': 'mine' });
    const { code, err } = await run(argv);
    expect([code, err]).toEqual([3, expect.stringContaining(`looked in ${join(cwd, '.hotcell')}`)]);
    expect(err).toContain('--data DIR');
    expect(readdirSync(cwd)).toEqual(['notes.txt']);
    close();
  });

  it('leaves nothing behind where it only reads, beside plugins and inside their folder', async () => {
    const { cwd, run, close } = openTerminal({ 'plugins/echo.ts': echoPlugin });
    expect((await run(['tool', 'list'])).out).toContain('echo');
    expect((await run(['plugin', 'test', 'echo'])).code).toBe(0);
    expect(readdirSync(cwd)).toEqual(['plugins']);
    expect(readdirSync(join(cwd, 'plugins'))).toEqual(['echo.ts']);
    close();
  });

  it('says in a sentence what of the folder cannot be written', async () => {
    const { run, close } = openTerminal({ plugins: 'a file', 'types/hotcell': 'a file' });
    for (const argv of [['plugin', 'new', 'fresh'], ['init']]) {
      const { code, err } = await run(argv);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/^✗ .*\n {2}.+plugins\S* cannot be used: .+\(E[A-Z]+\)\.\n {2}Fix: .+\n$/),
      ]);
    }
    close();
  });

  it('keeps what is to last', async () => {
    const { cwd, run, close } = openTerminal({ 'plugins/echo.ts': echoPlugin });
    expect((await run(['call', 'echo', 'text=a'])).code).toBe(0);
    expect(readdirSync(cwd).sort()).toEqual(['.hotcell', 'plugins']);
    close();
  });
});

describe('config check', () => {
  it('refuses folders that a start refuses', async () => {
    const { run, write, close } = openTerminal({ 'hotcell.config.yaml': 'mounts: { docs: { path: ./docs } }' });
    const { code, err } = await run(['config', 'check']);
    expect([code, err]).toEqual([2, expect.stringContaining('mounts.docs.path is no folder')]);
    write('docs/a.txt', 'a');
    expect((await run(['config', 'check'])).out).toContain('valid');
    close();
  });
});

describe('a command beside a daemon', () => {
  it('writes a new plugin where the daemon of the data directory watches', async () => {
    const house = openTerminal({ 'tools/echo.ts': echoPlugin });
    const elsewhere = openTerminal();
    const daemon = await house.start(['--plugins', 'tools']);
    const made = await elsewhere.run(['plugin', 'new', 'fresh'], { env: { HOTCELL_DATA: join(house.cwd, '.hotcell') } });
    expect(made.code).toBe(0);
    expect(readdirSync(join(house.cwd, 'tools')).sort()).toEqual(['echo.ts', 'fresh.ts']);
    expect(readdirSync(elsewhere.cwd)).toEqual([]);
    await daemon.stop();
    house.close();
    elsewhere.close();
  });
});
