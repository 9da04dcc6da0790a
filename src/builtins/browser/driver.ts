/** A process of its own that drives one browser: what a page sends so much of that it hurts, hurts nobody else. */
import { readdirSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type { BrowserNews, BrowserOrder, BrowserStart, BrowserStep, StepPart } from './browser-steps.ts';
import { listChromiumFlags } from './chromium-flags.ts';

const stepMs = 15_000;
const loadMs = 30_000;
const settleMs = 5000;
const lookMs = 250;
const maxTextChars = 50_000;
const maxImageBytes = 3 * 1024 * 1024;
const maxMessageChars = 1000;
const viewport = { width: 1280, height: 800 };

let context: BrowserContext | undefined;

process.on('message', (order: BrowserOrder) => {
  const done = order.kind === 'start' ? start(order.start) : carryOut(order.step);
  done.then(say, (error: unknown) => say({ kind: 'failed', message: describe(error) }));
});
// Without the daemon there is nobody to drive for; the browser ends with its pipe.
process.on('disconnect', () => process.exit(0));

function say(news: BrowserNews): void {
  if (process.connected) process.send?.(news);
}

async function start(facts: BrowserStart): Promise<BrowserNews> {
  const { command, home, hasSandbox, proxy, maxPages } = facts;
  const [program, ...words] = command;
  watch(facts);
  const browser = await chromium.launch({
    executablePath: program,
    ignoreDefaultArgs: true,
    args: [...words, ...listChromiumFlags({ profile: `${home}/profile`, proxyPort: proxy.port, hasSandbox })],
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
    timeout: loadMs,
  });
  browser.once('disconnected', () => process.exit(1));
  context = await browser.newContext({
    acceptDownloads: false,
    serviceWorkers: 'block',
    viewport,
    proxy: { server: `http://127.0.0.1:${proxy.port}`, username: proxy.username, password: proxy.password },
  });
  context.setDefaultTimeout(stepMs);
  context.setDefaultNavigationTimeout(loadMs);
  context.on('page', (page) => {
    if ((context?.pages().length ?? 0) > maxPages) void page.close().catch(() => {});
  });
  await context.newPage();
  return { kind: 'ready' };
}

async function carryOut(step: BrowserStep): Promise<BrowserNews> {
  const page = await currentPage();
  const part = await answerStep(page, step);
  const shown = await currentPage();
  const title = await shown.title().catch(() => '');
  return { kind: 'done', url: shown.url().slice(0, 2048), title: title.slice(0, 500), ...(part === undefined ? {} : { part }) };
}

/** The page that was opened last: that is where a click led to. */
async function currentPage(): Promise<Page> {
  const page = context?.pages().at(-1) ?? (await context?.newPage());
  if (page === undefined) throw new Error('The browser is not there yet.');
  return page;
}

async function answerStep(page: Page, step: BrowserStep): Promise<StepPart | undefined> {
  const { action, url = '', selector, text = '', key = '', fullPage = false } = step;
  const target = page.locator(selector ?? 'body').first();
  switch (action) {
    case 'goto':
      await page.goto(url, { waitUntil: 'domcontentloaded' });
      await page.waitForLoadState('load', { timeout: settleMs }).catch(() => {});
      return undefined;
    case 'click':
      await target.click();
      await page.waitForLoadState('domcontentloaded', { timeout: settleMs }).catch(() => {});
      return undefined;
    case 'type':
      await target.fill(text);
      return undefined;
    case 'press':
      await (selector === undefined ? page.keyboard.press(key) : target.press(key));
      return undefined;
    case 'select':
      await target.selectOption(text);
      return undefined;
    case 'wait':
      await target.waitFor();
      return undefined;
    case 'scroll':
      await page.mouse.wheel(0, viewport.height);
      return undefined;
    case 'back':
      await page.goBack({ waitUntil: 'domcontentloaded' });
      return undefined;
    case 'text':
      return toText(await target.innerText());
    case 'outline':
      return toText(await target.ariaSnapshot());
    case 'screenshot': {
      const image = await page.screenshot({ type: 'jpeg', quality: 70, fullPage });
      if (image.length > maxImageBytes) throw new Error(`The picture has more than ${maxImageBytes} bytes.`);
      return { type: 'image', data: image.toString('base64'), mimeType: 'image/jpeg' };
    }
  }
}

function toText(text: string): StepPart {
  return { type: 'text', text: text.length > maxTextChars ? `${text.slice(0, maxTextChars)}\n(cut)` : text };
}

/** The first lines of what went wrong, without the colours of a terminal. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [first = ''] = stripVTControlCharacters(message).split('\nCall log:');
  return first.slice(0, maxMessageChars);
}

/** Looks at the processes of the browser, where the system tells (Linux): too many, or too large, are its end. */
function watch({ maxProcesses, maxMemoryBytes }: BrowserStart): void {
  const timer = setInterval(() => {
    const processes = listBelow(process.pid);
    const bytes = processes.reduce((sum, { ownBytes }) => sum + ownBytes, 0);
    const what =
      processes.length > maxProcesses
        ? `${maxProcesses} processes`
        : bytes > maxMemoryBytes
          ? `${maxMemoryBytes} bytes of memory`
          : undefined;
    if (what === undefined) return;
    clearInterval(timer);
    process.send?.({ kind: 'over', what }, () => process.exit(1));
  }, lookMs);
}

interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  /** What it does not share with the files it came from. */
  readonly ownBytes: number;
}

/** All processes that come of one. */
function listBelow(root: number): readonly ProcessFacts[] {
  const all = listNames().flatMap((name) => readProcess(name) ?? []);
  const found = new Set([root]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return all.filter(({ pid }) => found.has(pid));
}

function listNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readProcess(name: string): ProcessFacts | undefined {
  try {
    const status = readFileSync(`/proc/${name}/status`, 'latin1');
    const read = (key: string): number => Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { pid: Number(name), parent: read('PPid'), ownBytes: 1024 * (read('RssAnon') + read('RssShmem')) };
  } catch {
    return undefined;
  }
}
