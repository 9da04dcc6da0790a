import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { endedRow } from './rows.ts';
import { temporaryDir } from './temporary-store.ts';

const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message), fix: expect.stringMatching(/.+\.$/) });

describe('openStore', () => {
  it('creates the data directory for its user alone', () => {
    const dataDir = join(temporaryDir(), 'deep', 'data');
    const store = openStore({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(dataDir, 'hotcell.pid'), 'utf8')).toBe(`${process.pid}\n`);
    store.close();
    store.close();
    expect(existsSync(join(dataDir, 'hotcell.pid'))).toBe(false);
    expect(existsSync(join(dataDir, 'hotcell.db-wal'))).toBe(false);
  });

  it('closes an open data directory of its own, but not a folder that holds other things', () => {
    const dataDir = join(temporaryDir(), 'data');
    openStore({ dataDir }).close();
    chmodSync(dataDir, 0o770);
    openStore({ dataDir }).close();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);

    const home = join(temporaryDir(), 'home');
    mkdirSync(home, { mode: 0o755 });
    writeFileSync(join(home, 'letter.txt'), '');
    expect(() => openStore({ dataDir: home })).toThrow(
      refusal('storage-failed', /holds other files and is open to others \(755\)/),
    );
    expect(statSync(home).mode & 0o777).toBe(0o755);
  });

  it('uses no directory that came as files of a clone do, whose grants and approvals nobody here gave', () => {
    const dataDir = join(temporaryDir(), 'data');
    openStore({ dataDir }).close();
    for (const mode of [0o755, 0o775, 0o701]) {
      chmodSync(dataDir, mode);
      expect(() => openStore({ dataDir })).toThrow(refusal('storage-failed', /is open to others \(7\d\d\), as one is that came/));
      expect(statSync(dataDir).mode & 0o777).toBe(mode);
    }
    chmodSync(dataDir, 0o700);
    openStore({ dataDir }).close();
  });

  it('keeps what was written over a restart', () => {
    const dataDir = join(temporaryDir(), 'data');
    const first = openStore({ dataDir });
    first.executions.insert(endedRow('e1'));
    first.close();
    const second = openStore({ dataDir });
    expect(second.executions.get('e1')).toEqual(endedRow('e1'));
    second.close();
  });

  it('refuses a second store in the same process', () => {
    const dataDir = join(temporaryDir(), 'data');
    const store = openStore({ dataDir });
    expect(() => openStore({ dataDir })).toThrow(refusal('conflict', new RegExp(`pid ${process.pid}`)));
    store.executions.insert(endedRow('e1'));
    expect(store.executions.count({})).toBe(1);
    store.close();
    expect(existsSync(join(dataDir, 'hotcell.pid'))).toBe(false);
  });

  it('takes over a note of a process that is gone', () => {
    const dataDir = join(temporaryDir(), 'data');
    openStore({ dataDir }).close();
    writeFileSync(join(dataDir, 'hotcell.pid'), '4194304\n');
    openStore({ dataDir }).close();
  });

  it('names the file when it is no database or damaged', () => {
    const dataDir = join(temporaryDir(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'hotcell.db'), 'This is not a database. '.repeat(100));
    expect(() => openStore({ dataDir })).toThrow(refusal('storage-damaged', /hotcell\.db is not a sound SQLite database/));

    const cut = join(temporaryDir(), 'data');
    openStore({ dataDir: cut }).close();
    truncateSync(join(cut, 'hotcell.db'), 5000);
    expect(() => openStore({ dataDir: cut })).toThrow(refusal('storage-damaged', /hotcell\.db/));
  });

  it('refuses a database of a newer Hotcell and leaves it as it is', () => {
    const dataDir = join(temporaryDir(), 'data');
    openStore({ dataDir }).close();
    const database = new DatabaseSync(join(dataDir, 'hotcell.db'));
    database.exec('pragma user_version = 999');
    database.close();
    expect(() => openStore({ dataDir })).toThrow(refusal('conflict', /schema 999/));
  });

  it('says when the data directory is a file', () => {
    const dataDir = join(temporaryDir(), 'data');
    writeFileSync(dataDir, '');
    expect(() => openStore({ dataDir })).toThrow(refusal('storage-failed', /data cannot be created or opened/));
  });
});
