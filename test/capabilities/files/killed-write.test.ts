import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace, places } from './places.ts';

// Every moment of a write: `npm run test:long writes`.
const rounds = process.env.HOTCELL_LONG ? 16 : 3;
const lastKillMs = 17;
const size = 4_000_000;

/** A daemon's file capability in a process of its own that writes whole files of one letter, again and again. */
async function startWriter(dataDir: string, mount: string, path: string): Promise<ChildProcess> {
  const writer = fork(new URL('./writer.ts', import.meta.url), [dataDir, mount, path, String(size)], { execArgv: [] });
  await once(writer, 'message');
  return writer;
}

describe.each(places)('a write in a %s', (name) => {
  it('leaves the old or the new file when the daemon is killed in the middle', { timeout: 60_000 }, async () => {
    await using place = openPlace(name);
    const file = join(place.dir, 'x');
    for (let round = 0; round < rounds; round++) {
      const writer = await startWriter(place.table.dataDir, join(place.outside, '..', 'docs'), place.at('x'));
      await new Promise((resolve) => setTimeout(resolve, 3 + (round * (lastKillMs - 3)) / (rounds - 1)));
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      const bytes = readFileSync(file);
      expect(bytes.length).toBe(size);
      expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
      expect(await place.ask('files.list', { path: '.' })).toEqual({ items: [{ name: 'x', type: 'file' }] });
    }
    if (name === 'workspace') {
      await place.ask('files.write', { path: 'y', text: 'y' });
      expect(readdirSync(join(place.table.dataDir, 'workspaces', '.incoming'))).toEqual([]);
    }
  });
});
