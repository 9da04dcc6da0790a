import { Type } from 'typebox';
import Value from 'typebox/value';
import { askThread } from '../../concurrency/ask-thread.ts';
import { createSlots } from '../../concurrency/slots.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { fetchForTool, type ToolResponse } from '../../tools/hosted/capability-calls.ts';
import type { HostedTool } from '../../tools/hosted/hosted-types.ts';
import { type HttpToolParts, reachPublic } from './http-request.ts';
import type { PageText } from './render-page.ts';

const input = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 16_384, description: 'The page, such as https://example.com/article.' }) },
  { additionalProperties: false },
);
const output = Type.Object({
  url: Type.String({ description: 'Where it came from, after redirects.' }),
  title: Type.String(),
  content: Type.String({ description: 'Markdown where it is a page, else the text as it is.' }),
  truncated: Type.Boolean({ description: 'There is more than what is here.' }),
});

const maxPageBytes = 2 * 1024 * 1024;
const maxContentChars = 100_000;
const pageType = /^(?:text\/html|application\/xhtml\+xml)$/;
const textType = /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml|javascript)|application\/x-ndjson)$/;

/** `web_fetch`: the article of a web page as Markdown. */
export function createWebFetch({ answer, settings, readPage }: HttpToolParts & { readonly readPage: ReadPage }): HostedTool {
  return {
    name: 'web_fetch',
    description: 'Reads a web page: answers its title and what it says as Markdown, without menus and advertisements.',
    input: { ...input },
    output: { ...output },
    tags: ['web'],
    who: settings.who.web_fetch,
    flags: { isParallelSafe: true },
    timeoutMs: 60_000,
    async run(args, call) {
      const { url } = Value.Parse(input, args);
      const got = await fetchForTool(
        answer,
        reachPublic(call, settings),
        { url, method: 'GET', headers: [['accept', 'text/html,text/*;q=0.9,*/*;q=0.1']], redirect: 'follow' },
        maxPageBytes,
      );
      if (got.status >= 400) throw new HotcellError('network-failed', `The page answered with the status ${got.status}.`);
      const text = readText(got);
      const page = text.isPage
        ? await readPage({ html: text.text, url: got.url }, call.signal)
        : { title: '', content: text.text };
      return {
        url: got.url,
        title: page.title,
        content: page.content.slice(0, maxContentChars).toWellFormed(),
        truncated: got.truncated || page.content.length > maxContentChars,
      };
    },
  };
}

/** The text of an answer in the characters that it names. Throws `page-unreadable` for what is no text. */
function readText({ headers, bytes, truncated }: ToolResponse): { readonly text: string; readonly isPage: boolean } {
  const said = headers.find(([name]) => name === 'content-type')?.[1] ?? 'text/plain';
  const type = said.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isPage = pageType.test(type);
  if (!isPage && !textType.test(type)) {
    throw new HotcellError('page-unreadable', `What is there is of the type ${JSON.stringify(type.slice(0, 100))}, and no text.`);
  }
  const named = /charset\s*=\s*["']?([\w.:-]{1,40})/i;
  const start = bytes.subarray(0, 1024).toString('latin1');
  const charset = named.exec(said)?.[1] ?? (isPage ? named.exec(start)?.[1] : undefined) ?? 'utf-8';
  return { text: decodeAs(charset, bytes, truncated), isPage };
}

function decodeAs(charset: string, bytes: Uint8Array, isCut: boolean): string {
  const options = { stream: isCut };
  try {
    return new TextDecoder(charset).decode(bytes, options);
  } catch {
    return new TextDecoder().decode(bytes, options);
  }
}

/** Reads pages away from the thread that serves calls. Rejects with `page-unreadable`, or with the reason of the signal. */
export type ReadPage = (page: { readonly html: string; readonly url: string }, signal: AbortSignal) => Promise<PageText>;

const workerFile = new URL(import.meta.url.endsWith('.ts') ? './page-worker.ts' : './page-worker.js', import.meta.url);
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
const maxAtOnce = 2;

/** Makes a reader that gives each page a thread of its own, of bounded memory, for `maxMs`: a page may be made to be slow. */
export function createPageReader({ maxMs }: { readonly maxMs: number }): ReadPage {
  const slots = createSlots(maxAtOnce);
  return async (page, signal) => {
    const leave = await slots.enter(signal);
    try {
      return await askThread<PageText>(workerFile, page, { maxMs, resourceLimits, signal, fail: unreadable });
    } finally {
      leave();
    }
  };
}

function unreadable(reason: string, cause?: unknown): HotcellError {
  return new HotcellError('page-unreadable', `The page came, but ${reason}.`, cause === undefined ? {} : { cause });
}
