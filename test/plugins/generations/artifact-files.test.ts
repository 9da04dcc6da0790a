import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createArtifactFiles, hashBytes } from '../../../src/plugins/generations/artifact-files.ts';

const key = { path: '/plugins/a.ts', id: 'gen_1' };
const artifacts = { code: 'code', sourceMap: 'map', sources: [{ path: 'a.ts', text: 'text' }], image: Buffer.from('image') };
const [codeHash, imageHash] = [hashBytes('code'), hashBytes('image')];

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-artifacts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const listFiles = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    );
  return { folder, listFiles, files: createArtifactFiles(folder) };
}

describe('createArtifactFiles', () => {
  it('keeps the generations of all plugins apart, and removes one without the others', async () => {
    const { files, listFiles } = open();
    const others = Array.from({ length: 300 }, (_, n) => ({ path: `/plugins/${n}.ts`, id: `gen_${n}` }));
    for (const other of others) await files.write(other, { code: other.path, sources: [] });
    await files.write(key, artifacts);
    expect(await files.readTrace(key)).toEqual({ sourceMap: 'map', sources: artifacts.sources });
    expect(Buffer.from((await files.readImage(key, imageHash)) ?? []).toString()).toBe('image');
    await files.remove(key);
    await files.removePlugin(key.path);
    expect(await files.readCode(key, codeHash)).toBeUndefined();
    for (const other of others) expect(await files.readCode(other, hashBytes(other.path))).toBeDefined();
    expect(listFiles()).toHaveLength(others.length);
  });

  it('takes nothing that was written by halves', async () => {
    const { files, listFiles } = open();
    await files.write(key, artifacts);
    await files.writeImage(key, artifacts.image);
    for (const file of listFiles()) truncateSync(file, 2);
    expect([await files.readCode(key, codeHash), await files.readImage(key, imageHash)]).toEqual([undefined, undefined]);
    expect((await files.readTrace(key)).sources).toEqual([]);
  });

  it('gives an image that was made anew, and the first one while its row says so', async () => {
    const { files } = open();
    await files.write(key, artifacts);
    await files.writeImage(key, Buffer.from('anew'));
    for (const image of ['image', 'anew']) {
      expect(Buffer.from((await files.readImage(key, hashBytes(image))) ?? []).toString()).toBe(image);
    }
  });

  it('finds, replaces and removes what lies in a folder for each generation', async () => {
    const { files, folder, listFiles } = open();
    const older = join(folder, hashBytes(key.path).slice(0, 24), key.id);
    mkdirSync(older, { recursive: true });
    const texts = {
      'code.js': 'code',
      'code.js.map': 'map',
      'sources.json': JSON.stringify(artifacts.sources),
      'image.bin': 'old',
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(older, name), text);
    expect(await files.readTrace(key)).toEqual({ sourceMap: 'map', sources: artifacts.sources });
    expect(await files.readCode(key, codeHash)).toBeDefined();
    await files.writeImage(key, artifacts.image);
    expect(await files.readImage(key, imageHash)).toBeDefined();
    await files.remove(key);
    expect(listFiles()).toEqual([]);
  });
});
