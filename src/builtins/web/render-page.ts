import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import Turndown from 'turndown';

/** A page as Markdown. */
export interface PageText {
  readonly title: string;
  readonly content: string;
}

/** What is used of a document; the libraries are written for those of browsers. */
interface PageElement {
  readonly firstElementChild: PageElement | null;
  readonly nextElementSibling: PageElement | null;
  readonly parentElement: PageElement | null;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
}
interface PageDocument {
  readonly documentElement: PageElement | null;
  querySelector(selector: string): PageElement | null;
}

/** Beyond these the search for the article takes its time in vain; all of the page is answered then. */
const maxElements = 20_000;
const maxDepth = 150;
const maxTitleChars = 500;
const maxAddressChars = 2000;

/** Finds the article of a page, or takes all of it where there is none, as Markdown. May take long: give it a thread of its own. */
export function renderPage(html: string, url: string): PageText {
  const { document }: { document: PageDocument } = parseHTML(html);
  const title = (document.querySelector('title')?.textContent ?? '').trim();
  const base = resolveAddress(document.querySelector('base[href]')?.getAttribute('href') ?? '', url) ?? url;
  const article = isUsual(document.documentElement) ? new Readability<string>(document).parse() : null;
  const hasArticle = (article?.textContent ?? '').trim() !== '';
  return {
    title: ((hasArticle && article?.title) || title).slice(0, maxTitleChars),
    content: createWriter(base).turndown((hasArticle && article?.content) || html),
  };
}

/** Neither huge nor nested without end. Walks without recursion. */
function isUsual(root: PageElement | null): boolean {
  let elements = 0;
  let depth = 0;
  for (let at = root; at !== null; ) {
    if (++elements > maxElements || depth > maxDepth) return false;
    if (at.firstElementChild !== null) {
      at = at.firstElementChild;
      depth++;
      continue;
    }
    while (at !== null && at !== root && at.nextElementSibling === null) {
      at = at.parentElement;
      depth--;
    }
    at = at === null || at === root ? null : at.nextElementSibling;
  }
  return elements > 0;
}

/** Links lead to where a browser would go, and to nothing that runs or that holds what it shows. */
function createWriter(base: string): Turndown {
  const writer = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  writer.remove(['script', 'style', 'noscript', 'iframe', 'template', 'head', 'title', 'object', 'form', 'button']);
  writer.addRule('address', {
    filter: ['a'],
    replacement: (content, node) => {
      const to = resolveAddress(readAttribute(node, 'href'), base);
      const text = content.trim();
      return to === undefined || text === '' ? content : `[${text}](${to})`;
    },
  });
  writer.addRule('picture', {
    filter: ['img'],
    replacement: (_content, node) => {
      const from = resolveAddress(readAttribute(node, 'src'), base);
      const alt = readAttribute(node, 'alt')
        .replace(/[[\]\s]+/g, ' ')
        .trim();
      return from === undefined || alt === '' ? alt : `![${alt}](${from})`;
    },
  });
  return writer;
}

function readAttribute(node: object, name: string): string {
  const value: unknown = 'getAttribute' in node && typeof node.getAttribute === 'function' ? node.getAttribute(name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** The full address of what HTML names; undefined for what is no page or picture of the web. */
function resolveAddress(written: string, base: string): string | undefined {
  const url = written === '' || written.length > maxAddressChars ? null : URL.parse(written, base);
  if (url === null || !/^(?:https?|mailto):$/.test(url.protocol) || url.href.length > maxAddressChars) return undefined;
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29');
}
