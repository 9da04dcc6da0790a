import { Type } from 'typebox';
import Value from 'typebox/value';
import type { BuiltinSettings } from '../../config/settings/builtin-settings.ts';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { reachPublic } from '../web/http-request.ts';
import type { BrowserProcess, RefusedPlace } from './browser-process.ts';
import { type BrowserStep, browserStep, type StepPart } from './browser-steps.ts';
import type { Browsers } from './browsers.ts';

/** What the tool works with. */
export interface BrowserToolParts {
  readonly browsers: Pick<Browsers, 'use'>;
  readonly settings: Pick<BuiltinSettings, 'who' | 'net'>;
}

const input = Type.Object(
  {
    steps: Type.Array(browserStep, {
      minItems: 1,
      maxItems: 50,
      description: 'What to do, one after the other. Begin with goto; end with text, outline or screenshot.',
    }),
  },
  { additionalProperties: false },
);
const maxRefused = 20;
const maxImages = 4;

/** `browser`: pages that need scripts, or somebody who clicks. */
export function createBrowserTool({ browsers, settings }: BrowserToolParts): HostedTool {
  return {
    name: 'browser',
    description:
      'Opens web pages in a browser, clicks, types and answers texts, outlines and pictures. Each call begins with an empty browser, except within a script or plugin, whose calls share one. For pages that only need to be read use web_fetch if it is there.',
    input: { ...input },
    tags: ['web', 'browser'],
    who: settings.who.browser,
    timeoutMs: 120_000,
    run: (args, call) => {
      const { steps } = Value.Parse(input, args);
      const reaching = reachPublic(call, settings);
      return browsers.use(reaching, (browser) => carryOut(browser, steps, reaching));
    },
  };
}

async function carryOut(
  browser: BrowserProcess,
  steps: readonly BrowserStep[],
  { user, signal }: Parameters<Browsers['use']>[0],
) {
  const content: StepPart[] = [];
  const refused: RefusedPlace[] = [];
  let where = { url: 'about:blank', title: '' };
  for (const step of steps) {
    const done = await browser.step(step, user, signal).catch((error: unknown) => {
      throw findReason(step, browser.takeRefused()) ?? error;
    });
    const news = browser.takeRefused();
    const reason = findReason(step, news);
    if (reason !== undefined) throw reason;
    refused.push(...news);
    where = { url: done.url, title: done.title };
    if (done.part === undefined) continue;
    const isOneMore = done.part.type !== 'image' || content.filter(({ type }) => type === 'image').length < maxImages;
    content.push(isOneMore ? done.part : { type: 'text', text: `No more than ${maxImages} pictures in one call.` });
  }
  const notes = [...new Set(refused.map(({ error }) => error.message))].slice(0, maxRefused);
  const head = [`${where.title} ${where.url}`.trim(), ...notes].join('\n');
  return { ...where, refused: notes, content: [{ type: 'text', text: head }, ...content] };
}

/** Why the place that a step goes to itself was not reached. */
function findReason({ action, url = '' }: BrowserStep, refused: readonly RefusedPlace[]) {
  const to = action === 'goto' ? URL.parse(url) : null;
  if (to === null) return undefined;
  const port = to.port === '' ? (to.protocol === 'https:' ? '443' : '80') : to.port;
  return refused.find(({ place }) => place === `${to.hostname}:${port}`)?.error;
}
