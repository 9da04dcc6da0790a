import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Client } from '../../src/client/client.ts';
import { createHttpClient } from '../../src/client/client.ts';
import { locateDaemon } from '../../src/client/find-daemon.ts';
import type { EventType } from '../../src/events/event-table.ts';
import { eventContracts } from '../../src/operations/contracts/events.ts';
import { giveWarmCache } from '../data-dir.ts';
import { startCheaply } from '../shared-builds.ts';
import { type CodeBlock, repository } from './markdown.ts';
import { writeQuickCommand } from './quick-command.ts';
import { openShell } from './shell.ts';
import { findDifference, readSteps } from './transcript.ts';

const startCommands = /^(?:npm start|hotcell start)(.*)$/;
const documentedAddress = /127\.0\.0\.1:7420/g;
const settledTypes: EventType[] = ['plugin-change', 'plugin-diagnostic', 'plugin-removed'];

/**
 * Follows a page as a reader would: in a folder like a fresh clone, with a daemon of its own on a free port, block by block.
 * Returns what is not as the page says.
 */
export async function followPage(blocks: readonly CodeBlock[]): Promise<string[]> {
  const folder = makeClone(blocks);
  const path = [join(folder, '.commands'), join(repository, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const { HOTCELL_TOKEN, HOTCELL_URL, HOTCELL_DATA, ...inherited } = process.env;
  const env = { ...inherited, PATH: path, NO_COLOR: '1', HOTCELL_PORT: '0', npm_config_loglevel: 'error' };
  const command = isWithoutProcess(blocks) ? await writeQuickCommand(join(folder, '.commands/hotcell')) : undefined;
  const shell = openShell({ cwd: folder, env });
  const problems: string[] = [];
  const startsByItself = blocks.some(({ text }) => /^\$ (?:npm|hotcell) start/m.test(text));
  let daemon: RunningDaemon | undefined;
  try {
    for (const block of blocks) {
      const report = (problem: string) => problems.push(`${block.page}:${block.line}: ${problem}`);
      if (block.file !== undefined) {
        if (daemon === undefined) writeBlock(folder, block);
        else await daemon.settled(() => writeBlock(folder, block));
        continue;
      }
      for (const step of block.language === 'console' ? readSteps(block.text) : [{ command: block.text, output: undefined }]) {
        const start = startCommands.exec(step.command);
        if (start) {
          daemon = await launchDaemon({ folder, env, words: (start[1] ?? '').trim().split(/\s+/).filter(Boolean) });
          const difference = findDifference(step.output ?? '', daemon.shown());
          if (difference !== undefined) report(`${step.command}: ${difference}`);
          continue;
        }
        if (!startsByItself) daemon ??= await launchDaemon({ folder, env, words: [] });
        const line = daemon ? step.command.replace(documentedAddress, new URL(daemon.url).host) : step.command;
        const { output, exitCode } = await (daemon ? daemon.settled(() => shell.run(line)) : shell.run(line));
        if (step.output === undefined) {
          if (exitCode !== 0) report(`${step.command.trim()} ended with ${exitCode}: ${output}`);
          continue;
        }
        const difference = findDifference(step.output, output);
        if (difference !== undefined) report(`${step.command}: ${difference}`);
      }
    }
  } finally {
    await daemon?.close();
    await shell.close();
    command?.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return problems;
}

/** `npm run test:long pages` runs the program itself for every command, `npm test` for those of the README. */
function isWithoutProcess(blocks: readonly CodeBlock[]): boolean {
  return process.env.HOTCELL_LONG !== '1' && !blocks.some(({ page }) => page === 'README.md');
}

/** Pages that show or count all that a fresh clone brings; the others need what they speak of. */
const pagesOfWhole = ['README.md', 'docs/getting-started.md', 'docs/deploying.md', 'docs/tools-for-models.md'];

function makeClone(blocks: readonly CodeBlock[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-page-'));
  for (const name of ['bin', 'package.json']) symlinkSync(join(repository, name), join(folder, name));
  const told = blocks.some(({ page }) => pagesOfWhole.includes(page)) ? undefined : blocks.map(({ text }) => text).join('\n');
  copyPackages(folder, told);
  for (const name of ['plugins', 'skills', 'wasm']) {
    mkdirSync(join(folder, name));
    for (const entry of readdirSync(join(repository, name))) {
      if (told === undefined || isToldOf(told, join(repository, name, entry)))
        cpSync(join(repository, name, entry), join(folder, name, entry), { recursive: true });
    }
  }
  mkdirSync(join(folder, '.commands'));
  giveWarmCache(join(folder, '.hotcell'));
  if (!isWithoutProcess(blocks)) symlinkSync(join(repository, 'bin/hotcell.js'), join(folder, '.commands/hotcell'));
  return folder;
}

/** By its file's name, or by that of one of its tools. */
function isToldOf(text: string, path: string): boolean {
  const [stem = ''] = basename(path).split('.');
  const code = path.endsWith('.ts') ? readFileSync(path, 'utf8') : '';
  const tools = [...code.matchAll(/^ {4}(\w+): \{$/gm)].map(([, tool = '']) => tool);
  return [stem, stem.replaceAll('-', '_'), ...tools].some((word) => text.includes(word));
}

/** The packages that plugins of pages import, or those that a text names; a link would lead out of the folders that plugins may read. */
export function copyPackages(folder: string, told?: string): void {
  for (const name of ['zod', 'semver'].filter((each) => told?.includes(each) !== false)) {
    cpSync(join(repository, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
}

function writeBlock(folder: string, { file = '', text }: CodeBlock): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface RunningDaemon {
  readonly url: string;
  /** What its terminal shows. */
  shown(): string;
  /** Does something; when that changed the plugin folder, waits until the daemon has told what came of it. */
  settled<Result>(act: () => Result | Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

async function launchDaemon(options: {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly words: readonly string[];
}): Promise<RunningDaemon> {
  const { folder, env, words } = options;
  const stop = new AbortController();
  const started = Promise.withResolvers<void>();
  let shown = '';
  const write = (text: string): void => {
    shown += text;
    if (text.includes('ready in')) started.resolve();
  };
  const ended = runCli(['start', ...words], {
    stdout: { write },
    stderr: { write },
    readStdin: async () => '',
    env,
    cwd: folder,
    isTTY: true,
    columns: 120,
    signal: stop.signal,
    loadDaemon: async () => ({ startDaemon: startCheaply }),
  });
  await Promise.race([started.promise, ended]);
  const address = locateDaemon({ env: {}, dataDir: join(folder, '.hotcell') });
  if (address === undefined) throw new Error(`the daemon did not start: ${shown}`);
  const client = createHttpClient(address);
  return {
    url: address.url,
    shown: () => shown,
    async settled(act) {
      const before = listFiles(join(folder, 'plugins'));
      const { lastSeq } = await client.invoke(eventContracts.list, { limit: 1, after: Number.MAX_SAFE_INTEGER });
      const result = await act();
      if (listFiles(join(folder, 'plugins')) !== before) await waitForNews(client, lastSeq);
      return result;
    },
    async close() {
      stop.abort();
      await ended;
    },
  };
}

function listFiles(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .map((name) => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs}`)
    .sort()
    .join('\n');
}

async function waitForNews(client: Client, after: number): Promise<void> {
  const deadlineMs = Date.now() + 60_000;
  while (Date.now() < deadlineMs) {
    const { items } = await client.invoke(eventContracts.list, { after, types: settledTypes, limit: 1 });
    if (items.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('a file of a plugin was written, but the daemon told nothing of it');
}
