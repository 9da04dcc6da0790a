import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const referee = join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist', 'index.js');
/** The suite starts all clients at once: a small machine takes its time. */
const clientMs = 240_000;
let folder: string;
let client: string;

/** Runs what a revision requires; what it runs besides (extensions, scenarios younger than the revision) decides nothing. */
function run(revision: string): Promise<{ readonly exitCode: number; readonly summary: string }> {
  const command = `${process.execPath} ${client}`;
  const args = [
    referee,
    'client',
    '--command',
    command,
    '--requirements',
    revision,
    '--timeout',
    String(clientMs),
    '-o',
    join(folder, revision),
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      const exitCode = error === null ? 0 : Number(error.code ?? 1);
      const summary = stdout.slice(stdout.indexOf('=== SUITE SUMMARY ==='));
      resolve({ exitCode, summary: exitCode === 0 ? summary : `${summary}\n${readComplaints(join(folder, revision), summary)}` });
    });
  });
}

/** What the clients of the scenarios that failed wrote to their standard error. */
function readComplaints(results: string, summary: string): string {
  const failed = [...summary.matchAll(/^✗ (\S+):/gm)].map(([, scenario = '']) => scenario);
  const files = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('stderr.txt'));
  const meant = files.filter((file) => failed.some((scenario) => file.startsWith(`${scenario}-`)));
  return meant.map((file) => `${file}: ${readFileSync(join(results, file), 'utf8').slice(0, 3000)}`).join('\n');
}

describe('the conformance suite, with the client of the daemon', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-conformance-'));
    client = join(folder, 'client.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('conformance-client.ts', import.meta.url))],
      outfile: client,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['2025-11-25', 18],
    ['2026-07-28', 32],
  ])('passes every scenario that %s requires', { timeout: 2 * clientMs }, async (revision, required) => {
    const { exitCode, summary } = await run(revision);
    expect(exitCode, summary).toBe(0);
    const scored = summary.slice(0, summary.indexOf('Not scored'));
    expect(scored.match(/^✓ /gm)?.length, summary).toBe(required);
  });
});
