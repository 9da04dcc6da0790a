import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { startKeyProxy } from './key-proxy.ts';

const packDir = new URL('./pack/', import.meta.url);
const suite = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const changing = (count: number) => `export default {
  tools: { changing_${count}: { description: 'Number ${count}.', handler: () => ${count} } },
  prompts: { changing_prompt_${count}: { description: 'Number ${count}.', handler: () => '${count}' } },
};
`;

let small: Awaited<ReturnType<typeof startSmallDaemon>>;
let proxy: Awaited<ReturnType<typeof startKeyProxy>>;
let results: string;
beforeAll(async () => {
  const pack = readdirSync(packDir).map((file) => [file, readFileSync(new URL(file, packDir), 'utf8')] as const);
  small = await startSmallDaemon({ ...Object.fromEntries(pack), 'changing.ts': changing(0) }, {}, { listen: true });
  // The tools that are to change the lists cannot do it themselves: a file is saved for them.
  let count = 0;
  small.parts.events.subscribe({ types: ['execution-end'] }, ({ subject, data }) => {
    const tool = 'tool' in data ? data.tool : subject;
    if (String(tool).startsWith('test_trigger_')) writeFileSync(join(small.folder, 'plugins', 'changing.ts'), changing(++count));
  });
  proxy = await startKeyProxy(small.daemon.url ?? '', small.daemon.token);
  results = mkdtempSync(join(tmpdir(), 'hotcell-conformance-'));
});
afterAll(async () => {
  proxy.close();
  rmSync(results, { recursive: true, force: true });
  await small.close();
});

/** Runs what a revision requires; resolves with the scenarios that passed and those that did not, as the suite names them. */
async function runSuite(revision: string): Promise<{ code: number | null; passed: string[]; failed: string[]; output: string }> {
  const words = [suite, 'server', '--url', `${proxy.url}/mcp`, '--requirements', revision, '--timeout', '60000'];
  const child = spawn(process.execPath, words, { cwd: results, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  const named = (mark: string) =>
    [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+): \\d+ passed`, 'gm'))].map((match) => match[1] ?? '');
  return { code, passed: named('✓'), failed: named('✗'), output };
}

describe('the conformance suite of MCP', () => {
  it.each([
    ['2025-11-25', 30],
    ['2026-07-28', 48],
  ])(
    'is passed as a server of %s, with what it runs besides',
    async (revision, least) => {
      const { code, passed, failed, output } = await runSuite(revision);
      expect(failed, output.slice(-8000)).toEqual([]);
      expect(passed.length).toBeGreaterThanOrEqual(least);
      expect(code).toBe(0);
    },
    300_000,
  );
});
