import { type ChildProcess, fork } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import Value from 'typebox/value';
import type { CapabilityTable } from '../../border/capability.ts';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { browserBounds } from '../../config/quotas/quota.ts';
import type { BrowserSettings } from '../../config/settings/builtin-settings.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { listLaunchWords, makeBrowserHome, removeBrowserHome } from './browser-home.ts';
import { type BrowserNews, type BrowserOrder, type BrowserStep, browserNews } from './browser-steps.ts';
import { chromiumFix, findChromium } from './find-chromium.ts';
import { openLocalProxy } from './local-proxy.ts';

/** What a browser is made with. */
export interface BrowserParts {
  readonly dial: CapabilityTable['dial'];
  readonly settings: BrowserSettings;
}

/** A place that a page wanted to reach and may not. */
export interface RefusedPlace {
  /** `host:port`. */
  readonly place: string;
  readonly error: HotcellError;
}

const driverFile = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './driver.ts' : './driver.js', import.meta.url));
const maxRefused = 20;

/** One browser with the process that drives it. */
export type BrowserProcess = Awaited<ReturnType<typeof startBrowser>>;

/** Starts a browser with nothing in it. Rejects with `not-supported`, `engine-failed` or the reason of the signal. */
export async function startBrowser({ dial, settings }: BrowserParts, signal: AbortSignal) {
  const executable = findChromium(settings.executable);
  if (executable === undefined)
    throw new HotcellError('not-supported', 'There is no Chromium on this machine.', { fix: chromiumFix });
  let user: CapabilityUser | undefined;
  let refused: RefusedPlace[] = [];
  const proxy = await openLocalProxy((to, ending) => dialNoting(to, ending));
  const home = makeBrowserHome();
  const driver = fork(driverFile, [], {
    env: { PATH: process.env.PATH },
    execArgv: ['--max-old-space-size=256'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  const link = connectDriver(driver);
  const ended = link.ended.then(() => {
    proxy.close();
    removeBrowserHome(home);
  });

  async function dialNoting(to: { readonly host: string; readonly port: number }, ending: AbortSignal): Promise<Duplex> {
    try {
      if (user === undefined) throw new HotcellError('network-refused', 'No call uses this browser now.');
      return await dial(to, user, ending);
    } catch (error) {
      if (error instanceof HotcellError && refused.length < maxRefused) refused.push({ place: `${to.host}:${to.port}`, error });
      throw error;
    }
  }

  async function close(): Promise<void> {
    link.kill();
    await ended;
  }

  try {
    const { port, username, password } = proxy;
    const command = listLaunchWords(executable);
    const start = { command, home, hasSandbox: settings.sandbox, proxy: { port, username, password }, ...browserBounds };
    const news = await link.ask({ kind: 'start', start }, signal);
    if (news.kind !== 'ready') throw describeStart(news);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /** Does one thing; what is reached meanwhile is reached with the rights of `user`. */
    async step(step: BrowserStep, by: CapabilityUser, ending: AbortSignal): Promise<BrowserNews & { kind: 'done' }> {
      user = by;
      try {
        const news = await link.ask({ kind: 'step', step }, ending);
        if (news.kind === 'done') return news;
        if (news.kind === 'over')
          throw new HotcellError('memory-exceeded', `The page took more than ${news.what}; its browser was ended.`);
        const message = news.kind === 'failed' ? news.message : 'the browser gave no answer';
        throw new HotcellError('page-unreadable', `The step "${step.action}" failed: ${message}`);
      } finally {
        user = undefined;
      }
    },
    /** What was refused since the last time that somebody asked. */
    takeRefused(): readonly RefusedPlace[] {
      const taken = refused;
      refused = [];
      return taken;
    },
    get isGone(): boolean {
      return link.isGone();
    },
    /** Resolves when it is over, with its folder. Again does nothing. */
    close,
  };
}

function describeStart(news: BrowserNews): HotcellError {
  const message = news.kind === 'failed' ? news.message : 'its process ended';
  return new HotcellError('engine-failed', `The browser does not start: ${message}`, {
    fix: 'Run hotcell doctor. Where the daemon is in a container in which Chromium can have no sandbox, builtins.browser.sandbox: false starts it without.',
  });
}

/** Asks the process that drives one thing after the other. What went wrong with it for good is the answer to all. */
function connectDriver(driver: ChildProcess) {
  let isGone = false;
  let last: BrowserNews | undefined;
  let answer: (news: BrowserNews) => void = () => {};
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const kill = (): void => {
    isGone = true;
    // The browser is in the process group of its driver, and ends with it.
    driver.kill('SIGKILL');
  };
  driver.on('message', (message) => {
    if (!Value.Check(browserNews, message)) return kill();
    if (message.kind === 'over') last = message;
    answer(message);
  });
  const lose = (): void => {
    isGone = true;
    answer(last ?? { kind: 'failed', message: 'the browser ended' });
    end();
  };
  driver.once('exit', lose);
  driver.once('error', lose);
  return {
    ended,
    kill,
    isGone: () => isGone,
    async ask(order: BrowserOrder, signal: AbortSignal): Promise<BrowserNews> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<BrowserNews>();
      if (isGone) return last ?? { kind: 'failed', message: 'the browser ended' };
      const giveUp = (): void => {
        kill();
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      answer = resolve;
      driver.send(order);
      return promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
  };
}
