import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScenario, type Scenario } from './referee-client.ts';

const require = createRequire(import.meta.url);
const referee = join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist', 'index.js');
/** The suite starts all clients at once: a small machine takes its time. */
const clientMs = 240_000;
let folder: string;
let clients: Server;

/** What the suite starts for each scenario: it hands it to the client in this process, which fifty processes would have to load anew. */
const messenger = `
  import { connect } from 'node:net';
  import { join } from 'node:path';
  import { json } from 'node:stream/consumers';
  const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
  const socket = connect(join(import.meta.dirname, 'clients.sock'));
  socket.end(JSON.stringify({ name, url: process.argv.at(-1), context: JSON.parse(context) }));
  const { complaints, exitCode } = await json(socket);
  process.stderr.write(complaints);
  process.exitCode = exitCode;
`;

/** The suite starts all at once, and its servers cut connections that a busy machine left idle: so many go on at a time. */
const running: Promise<unknown>[] = Array.from({ length: 4 }, () => Promise.resolve());

function runInTurn(scenario: Scenario): ReturnType<typeof runNow> {
  const ended = Promise.resolve(running.shift()).then(() => runNow(scenario));
  running.push(ended);
  return ended;
}

/** What becomes of the client as if it were a process. Never rejects. */
async function runNow(scenario: Scenario): Promise<{ readonly complaints: string; readonly exitCode: number }> {
  try {
    const faults = await runScenario(scenario);
    return { complaints: faults.map((fault) => inspect(fault)).join('\n'), exitCode: 0 };
  } catch (error) {
    return { complaints: inspect(error), exitCode: 1 };
  }
}

/** Runs what a revision requires; what it runs besides (extensions, scenarios younger than the revision) decides nothing. */
function run(revision: string): Promise<{ readonly exitCode: number; readonly summary: string }> {
  const command = `${process.execPath} ${join(folder, 'messenger.mjs')}`;
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
    writeFileSync(join(folder, 'messenger.mjs'), messenger);
    clients = createServer({ allowHalfOpen: true }, async (socket) => {
      const scenario = (await json(socket)) as Scenario;
      socket.end(JSON.stringify(await runInTurn(scenario)));
    }).listen(join(folder, 'clients.sock'));
    await once(clients, 'listening');
  });
  afterAll(() => {
    clients.close();
    rmSync(folder, { recursive: true, force: true });
  });

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
