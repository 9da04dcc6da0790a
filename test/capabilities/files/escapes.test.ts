import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedPath, refusedPaths } from '../../promises/permission-cases.ts';
import { openPlace, places } from './places.ts';

const operations = ['read', 'list', 'stat', 'exists', 'write', 'append', 'mkdir', 'delete'];

describe.each(places)('createFiles against escapes from a %s', (name) => {
  describe('by the path', () => {
    let place: ReturnType<typeof openPlace>;
    beforeAll(() => {
      place = openPlace(name);
    });
    afterAll(() => place[Symbol.asyncDispose]());

    // An empty path is no path, but the root of a mount.
    it.each(refusedPaths.filter((path) => name === 'workspace' || path !== ''))(
      'refuses the path %j in every operation',
      async (path) => {
        for (const op of operations) {
          const payload = op === 'write' || op === 'append' ? { path, text: 'x' } : { path };
          expect(await place.ask(`files.${op}`, payload)).toMatch(/^file-refused: /);
        }
        expect(readdirSync(place.dir)).toEqual([]);
      },
    );

    it('takes any other', async () => {
      expect(await place.ask('files.write', { path: allowedPath, text: 'x' })).toEqual({ size: 1 });
    });
  });

  it('follows no symbolic link, wherever in the path it stands, and never writes through one', async () => {
    await using place = openPlace(name);
    const { ask, dir, outside } = place;
    writeFileSync(join(outside, 'secret'), 'secret');
    await ask('files.write', { path: 'in/x', text: 'x' });
    symlinkSync(join(outside, 'secret'), join(dir, 'file'));
    symlinkSync(outside, join(dir, 'in', 'folder'));
    symlinkSync(join(outside, 'new'), join(dir, 'dangling'));
    for (const path of ['file', 'in/folder/secret']) {
      expect(await ask('files.read', { path })).toMatch(/^file-refused: /);
      expect(await ask('files.write', { path, text: 'changed' })).toMatch(/^file-refused: /);
      expect(await ask('files.append', { path, text: 'changed' })).toMatch(/^file-refused: /);
    }
    expect(await ask('files.append', { path: 'dangling', text: 'made' })).toMatch(/^file-refused: /);
    expect(await ask('files.write', { path: 'in/folder/new', text: 'made' })).toMatch(/^file-refused: /);
    expect(await ask('files.mkdir', { path: 'in/folder/new' })).toMatch(/^file-refused: /);
    expect(await ask('files.list', { path: 'in/folder' })).toMatch(/^file-refused: /);
    expect(await ask('files.delete', { path: 'in/folder/secret' })).toMatch(/^file-refused: /);
    expect(await ask('files.stat', { path: 'file' })).toMatchObject({ type: 'other', size: 0 });
    expect(await ask('files.delete', { path: 'in', recursive: true })).toBe(true);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  it('follows no link that took the place of a file after it was used', async () => {
    await using place = openPlace(name);
    const { ask, dir, outside } = place;
    writeFileSync(join(outside, 'secret'), 'secret');
    await ask('files.write', { path: 'in/x', text: 'x' });
    expect(await ask('files.read', { path: 'in/x' })).toMatchObject({ text: 'x' });
    rmSync(join(dir, 'in/x'));
    symlinkSync(join(outside, 'secret'), join(dir, 'in/x'));
    expect(await ask('files.read', { path: 'in/x' })).toMatch(/^file-refused: /);
    rmSync(join(dir, 'in/x'));
    linkSync(join(outside, 'secret'), join(dir, 'in/x'));
    expect(await ask('files.read', { path: 'in/x' })).toMatch(/^file-refused: /);
    expect(await ask('files.write', { path: 'in/x', text: 'y' })).toMatch(/^file-refused: /);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('opens no hard link', async () => {
    await using place = openPlace(name);
    const { ask, dir, outside } = place;
    writeFileSync(join(outside, 'secret'), 'secret');
    linkSync(join(outside, 'secret'), join(dir, 'twin'));
    expect(await ask('files.read', { path: 'twin' })).toMatch(/^file-refused: "twin" is a hard link/);
    expect(await ask('files.append', { path: 'twin', text: 'x' })).toMatch(/^file-refused: /);
    expect(await ask('files.write', { path: 'twin', text: 'x' })).toMatch(/^file-refused: /);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('does not wait for a pipe, a socket or a device', async () => {
    await using place = openPlace(name);
    const { ask, dir } = place;
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    const socket = createServer().listen(join(dir, 'socket'));
    await new Promise((resolve) => socket.once('listening', resolve));
    for (const path of ['pipe', 'socket']) {
      expect(await ask('files.read', { path })).toMatch(/^file-refused: /);
      expect(await ask('files.append', { path, text: 'x' })).toMatch(/^file-refused: /);
      expect(await ask('files.write', { path, text: 'x' })).toMatch(/^file-refused: /);
    }
    socket.close();
  });

  it('neither shows nor deletes what carries a forbidden name', async () => {
    await using place = openPlace(name);
    const { ask, dir } = place;
    mkdirSync(join(dir, 'project', '.git'), { recursive: true });
    writeFileSync(join(dir, 'project', 'readme'), 'x');
    writeFileSync(join(dir, 'project', '.Env.local'), 'x');
    expect(await ask('files.list', { path: 'project' })).toEqual({ items: [{ name: 'readme', type: 'file' }] });
    expect(await ask('files.delete', { path: 'project', recursive: true })).toMatch(/^file-refused: /);
    expect(readdirSync(join(dir, 'project')).sort()).toEqual(['.Env.local', '.git', 'readme']);
  });

  it('refuses a place that was replaced by a link', async () => {
    await using place = openPlace(name);
    renameSync(place.dir, `${place.dir}-moved`);
    symlinkSync(place.outside, place.dir);
    for (const op of ['list', 'write']) {
      expect(await place.ask(`files.${op}`, op === 'write' ? { path: 'x', text: 'x' } : { path: '.' })).toMatch(
        /^file-refused: /,
      );
    }
    expect(existsSync(join(place.outside, 'x'))).toBe(false);
  });
});
