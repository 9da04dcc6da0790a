import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { loadPrelude } from '../../src/guests/prelude.ts';
import { provideGuestRunner } from '../../src/guests/runner.ts';
import { examineDataDir } from '../../src/store/examine.ts';
import { findStorageError } from '../../src/store/sqlite-error.ts';
import { openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';

const echo = `export default { name: 'echo', description: 'Says it again.', parameters: { type: 'object' }, handler: (args) => args };`;
const folder = makeDaemonFolder({ 'echo.ts': echo });
const dataDir = join(folder, '.hotcell');
const cache = join(dataDir, 'cache');
afterAll(() => removeDaemonFolder(folder));

function cacheFile(name: RegExp): string {
  return join(cache, readdirSync(cache).find((each) => name.test(each)) ?? 'none');
}

const damages: ReadonlyArray<readonly [string, (whole: string) => string]> = [
  ['empty', () => ''],
  ['cut short', (whole) => whole.slice(0, whole.length / 2)],
  ['with one other character', (whole) => `${whole.slice(0, 1000)}${whole[1000] === 'a' ? 'b' : 'a'}${whole.slice(1001)}`],
];

describe('a cached file', () => {
  it.each(damages)('that is %s is made again', async (_what, damage) => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const runner = await provideGuestRunner(dataDir, 'deno');
    const prelude = await loadPrelude(dataDir);
    for (const file of [runner, cacheFile(/^prelude-/)]) {
      const whole = readFileSync(file, 'utf8');
      writeFileSync(file, damage(whole));
      expect(await provideGuestRunner(dataDir, 'deno')).toBe(runner);
      expect(await loadPrelude(dataDir)).toEqual(prelude);
      expect(readFileSync(file, 'utf8')).toBe(whole);
    }
  });
});

describe('a damaged page', () => {
  it('ends the start with what to do, whatever table it is of, and the doctor finds it', async () => {
    const house = await openDaemonHouse(folder);
    await house.call('echo', {});
    await house.close();
    expect(await examineDataDir(dataDir)).toBeUndefined();
    const file = join(dataDir, 'hotcell.db');
    const database = new DatabaseSync(file, { readOnly: true });
    const { rootpage } = database.prepare(`select rootpage from sqlite_schema where name = 'generations'`).get() ?? {};
    database.close();
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, Buffer.alloc(4096, 0xa5), 0, 4096, (Number(rootpage) - 1) * 4096);
    closeSync(descriptor);
    expect(statSync(file).size).toBeGreaterThan(4096);
    await expect(openDaemonHouse(folder)).rejects.toMatchObject({
      code: 'storage-damaged',
      fix: expect.stringContaining('move hotcell.db'),
    });
    expect(await examineDataDir(dataDir)).toMatch(/./);
  });
});

describe('findStorageError', () => {
  it('knows a full and a failing disk by the words of the system, and leaves everything else', () => {
    const system = (code: string) => Object.assign(new Error(code), { code, path: '/data/x' });
    expect(findStorageError(system('ENOSPC'))).toMatchObject({
      code: 'storage-full',
      message: expect.stringContaining('/data/x'),
    });
    expect(findStorageError(system('EROFS'))).toMatchObject({ code: 'storage-failed' });
    expect(findStorageError(system('ENOENT'))).toBeUndefined();
    expect(findStorageError(new HotcellError('conflict', 'No.'))).toBeUndefined();
    expect(findStorageError('constructor')).toBeUndefined();
  });
});
