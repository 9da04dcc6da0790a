import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { openFolder, openRootFolder } from '../../../src/capabilities/files/folder.ts';
import { openTable } from '../table-harness.ts';

// Only where /proc lets a path start at an open folder; elsewhere links are refused, but a swap in time is not held off.
const onLinux = describe.runIf(existsSync('/proc/self/fd'));

onLinux('openFolder', () => {
  it('stays in the folder that was checked when a link takes its place', async () => {
    const base = mkdtempSync(join(tmpdir(), 'hotcell-swap-'));
    const root = join(base, 'root');
    mkdirSync(join(root, 'data'), { recursive: true });
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(root, 'data', 'file'), 'inside');
    writeFileSync(join(base, 'outside', 'file'), 'outside');
    {
      await using top = await openRootFolder(root);
      await using data = await openFolder(top, ['data']);
      renameSync(join(root, 'data'), join(root, 'moved'));
      symlinkSync(join(base, 'outside'), join(root, 'data'));
      expect(await readFile(data.pathTo('file'), 'utf8')).toBe('inside');
      await rename(data.pathTo('file'), data.pathTo('renamed'));
      await expect(openFolder(top, ['data'])).rejects.toMatchObject({ code: expect.stringMatching(/ENOTDIR|ELOOP/) });
    }
    expect(readdirSync(join(root, 'moved'))).toEqual(['renamed']);
    expect(readdirSync(join(base, 'outside'))).toEqual(['file']);
    rmSync(base, { recursive: true });
  });
});

// A write makes the folder when it finds it missing, so every step may find something in its way.
const swapper = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  const { parentPort, workerData: { real, parked, outside, stop } } = require('node:worker_threads');
  const flag = new Int32Array(stop);
  const attempt = (step) => { try { step(); } catch {} };
  parentPort.postMessage('started');
  while (Atomics.load(flag, 0) === 0) {
    mkdirSync(parked, { recursive: true });
    writeFileSync(parked + '/x', 'inside');
    attempt(() => rmSync(real, { recursive: true, force: true }));
    attempt(() => renameSync(parked, real));
    attempt(() => renameSync(real, parked));
    attempt(() => rmSync(real, { recursive: true, force: true }));
    attempt(() => symlinkSync(outside, real));
  }
`;

onLinux('createFiles while a folder is swapped for a link, again and again', () => {
  it('never reads, writes or deletes on the other side', async () => {
    await using table = openTable();
    const grant = { read: ['.'], write: ['.'] };
    const outside = join(table.dataDir, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'x'), 'outside');
    await table.value('files.write', { path: 'data/x', text: 'inside' }, { grant });
    const stop = new SharedArrayBuffer(4);
    const paths = { real: join(table.workspaceOf(), 'data'), parked: join(table.workspaceOf(), 'parked'), outside };
    const worker = new Worker(swapper, { eval: true, workerData: { ...paths, stop } });
    await new Promise((resolve) => worker.once('message', resolve));
    const inside = '{"text":"inside","size":6}';
    const outcomes = new Set<string>();
    for (let round = 0; round < 300 || (round < 3000 && !outcomes.has(inside)); round++) {
      const read = await table.value('files.read', { path: 'data/x' }, { grant });
      outcomes.add(typeof read === 'string' ? (read.split(':')[0] ?? '') : JSON.stringify(read));
      await table.value('files.append', { path: 'data/x', text: '' }, { grant });
      if (round % 10 === 0) {
        await table.value('files.write', { path: 'data/y', text: 'y' }, { grant });
        await table.value('files.delete', { path: 'data/y' }, { grant });
      }
    }
    Atomics.store(new Int32Array(stop), 0, 1);
    await new Promise((resolve) => worker.once('exit', resolve));
    expect([...outcomes].filter((outcome) => outcome.includes('outside'))).toEqual([]);
    expect(outcomes).toContain(inside);
    expect(readdirSync(outside)).toEqual(['x']);
    expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('outside');
    expect(table.faults).toEqual([]);
  });
});
