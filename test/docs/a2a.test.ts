import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { readBlocks, repository } from './markdown.ts';

const plugin = `export default { handler: ({ text }: { text: string }) => ({ words: text.split(' ').length }) };`;

it('the agent of docs/a2a.md gets the output of a tool', async () => {
  const rig = await startSmallDaemon({ 'text_stats.ts': plugin }, {}, { listen: true });
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-agent-'));
  onTestFinished(async () => {
    await rig.close();
    rmSync(folder, { recursive: true, force: true });
  });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const block = readBlocks('docs/a2a.md').find(({ file }) => file === 'planner.mjs');
  writeFileSync(join(folder, 'planner.mjs'), block?.text ?? '');
  const env = { ...process.env, HOTCELL_URL: rig.daemon.url, HOTCELL_KEY: rig.daemon.token };
  const { stdout } = await promisify(execFile)(process.execPath, ['planner.mjs'], { cwd: folder, env });
  expect(stdout).toContain('words: 2');
});
