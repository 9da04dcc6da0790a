import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/read/load.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { startExampleDaemon } from '../example-daemon.ts';
import { type CodeBlock, listPages, readBlocks, repository } from './markdown.ts';
import { copyPackages, followPage } from './page-run.ts';

/** Pages with a test of their own for blocks of a kind. */
const ownTests: Readonly<Record<string, { languages: readonly string[]; test: string }>> = {
  'docs/hooks.md': { languages: ['yaml'], test: 'test/hooks/documentation.test.ts' },
  'docs/configuration.md': { languages: ['yaml'], test: 'test/config/docs.test.ts' },
  'docs/permissions.md': { languages: ['yaml'], test: 'test/permissions/documentation.test.ts' },
  'docs/gateway.md': { languages: ['js'], test: 'test/gateway/documentation.test.ts' },
  'docs/engines.md': { languages: ['ts'], test: 'test/promises/escalation.test.ts' },
  'docs/docker.md': { languages: ['ts'], test: 'test/engines/process/docker/engine/documentation.test.ts' },
  'docs/build.md': { languages: ['js'], test: 'test/engines/extism/build/documentation.test.ts' },
  'docs/plugin-format.md': { languages: ['ts', 'js', 'json'], test: 'test/docs/plugin-format.test.ts' },
};
const runnable = ['sh', 'console'];
const code = ['ts', 'js'];
const pages = listPages().map((page) => ({ page, blocks: readBlocks(page) }));
const blocks = pages.flatMap((each) => each.blocks);

describe('code blocks of the documentation', () => {
  it('are of a kind that is checked, or say why nothing runs them', () => {
    const kinds = [...runnable, ...code, 'yaml', 'json'];
    const unknown = blocks.filter(({ language, notRun }) => notRun === undefined && !kinds.includes(language));
    expect(unknown.map(placeOf)).toEqual([]);
  });

  it('run, but for these', () => {
    const excused = blocks.filter(({ notRun }) => notRun !== undefined);
    expect(excused.map(({ page, notRun }) => `${page}: ${notRun}`)).toEqual([
      'README.md: installs packages and does not end by itself; the continuous check runs both commands in a clean clone',
      'docs/deploying.md: a unit file of systemd, for a machine that has it',
    ]);
  });

  it.each(Object.entries(ownTests))('of %s are read by a test of their own', (page, { test }) => {
    expect(readFileSync(join(repository, test), 'utf8')).toContain(page);
  });
});

describe.concurrent('a reader who follows the commands', () => {
  const sessions = pages.filter((each) => each.blocks.some(isCommand));

  it.for(sessions)('of $page sees what the page shows', { timeout: 240_000 }, async (session, { expect: expectHere }) => {
    const steps = session.blocks.filter((block) => isCommand(block) || (block.file !== undefined && block.notRun === undefined));
    expectHere(await followPage(steps)).toEqual([]);
  });
});

describe('plugins of the documentation', () => {
  const plugins = blocks.filter((block) => code.includes(block.language) && isOursToCheck(block) && isPlugin(block));
  let daemon: Awaited<ReturnType<typeof startExampleDaemon>>;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hotcell-blocks-'));
    copyPackages(folder);
    for (const block of plugins) writeFileSync(join(folder, fileNameOf(block)), block.text);
    daemon = await startExampleDaemon({ grantRequested: true, plugins: [folder] });
  });
  afterAll(async () => {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(plugins.map((block) => [placeOf(block), block] as const))('%s loads without a warning', (_place, block) => {
    const view = daemon.plugins.list().find(({ path }) => path.endsWith(fileNameOf(block)));
    // Two pages may show the same tool: that one of them is told so proves that both were built.
    const isTwin = view?.diagnostic?.code === 'tool-duplicate';
    expect([view?.state, view?.diagnostic, view?.warnings]).toEqual(isTwin ? expect.anything() : ['ready', undefined, []]);
  });
});

describe('data of the documentation', () => {
  const configs = blocks.filter((block) => block.language === 'yaml' && isOursToCheck(block));
  const documents = blocks.filter((block) => block.language === 'json' && isOursToCheck(block));

  it.each(configs.map((block) => [placeOf(block), block] as const))('%s is a config that loads', (_place, block) => {
    const cwd = mkdtempSync(join(tmpdir(), 'hotcell-config-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, 'hotcell.config.yaml'), block.text);
    expect(loadConfig({ flags: {}, env: {}, cwd, parsePermissions }).configFile).toBeDefined();
  });

  it('is JSON where it says so', () => {
    for (const block of documents) expect(() => JSON.parse(block.text), placeOf(block)).not.toThrow();
  });
});

function isCommand({ language, notRun }: CodeBlock): boolean {
  return runnable.includes(language) && notRun === undefined;
}

function isOursToCheck({ page, language, notRun }: CodeBlock): boolean {
  return notRun === undefined && ownTests[page]?.languages.includes(language) !== true;
}

function isPlugin({ file, text }: CodeBlock): boolean {
  return file === undefined ? /export default|module\.exports/.test(text) : /^plugins\/(?!_)/.test(file);
}

function fileNameOf({ page, line, language }: CodeBlock): string {
  return `${page.replace(/\W+/g, '-')}-${line}.${language}`;
}

function placeOf({ page, line }: CodeBlock): string {
  return `${page}:${line}`;
}
