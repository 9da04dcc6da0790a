import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hotcell-checkout-'));
const bin = join(folder, 'bin', 'hotcell.js');
const table = join(folder, 'src', 'cli', 'commands', 'table.ts');
const cache = join(folder, 'node_modules', '.cache', 'hotcell');

beforeAll(() => {
  for (const name of ['src', 'bin', 'scripts', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function listBundles(): string[] {
  return readdirSync(cache).filter((name) => !name.endsWith('.json'));
}

describe('a checkout', () => {
  it('bundles its program once, and again after an edit that keeps size and time of a file', async () => {
    expect((await run(process.execPath, [bin, '--help'])).stdout).toContain('call one tool');
    await run(process.execPath, [bin, '--help']);
    expect(listBundles()).toHaveLength(1);
    const before = new Date('2020-01-01');
    writeFileSync(table, readFileSync(table, 'utf8').replace('call one tool', 'call two tool'));
    utimesSync(table, before, before);
    expect((await run(process.execPath, [bin, '--help'])).stdout).toContain('call two tool');
    expect(listBundles()).toHaveLength(2);
  });

  it('runs its sources as they are where nothing can be bundled, and says what is wrong with them', async () => {
    writeFileSync(table, 'export const commands = [;\n');
    await expect(run(process.execPath, [bin, '--help'])).rejects.toMatchObject({ stderr: expect.stringContaining('table.ts') });
  });

  it('tells an error of the parts of a daemon as it tells its own', async () => {
    cpSync(join(root, 'src/cli/commands/table.ts'), table);
    const refused = run(process.execPath, [bin, 'start', '--port', '99999999'], { cwd: folder });
    await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--port') });
  });
});
