import matter from 'gray-matter';
import { parseDocument } from 'yaml';

/** What a Markdown file such as SKILL.md or HOOK.md says above its text. The reason of a refusal is a whole sentence. */
export type FrontMatter =
  | { readonly ok: true; readonly data: Readonly<Record<string, unknown>>; readonly body: string }
  | { readonly ok: false; readonly reason: string };

const maxChars = 64 * 1024;
const maxAliases = 100;
const maxBlankLines = 100;
const opening = /^---(?!-)[ \t]*([^\r\n]*)/;

/**
 * Reads front matter: YAML 1.2 and nothing else. A file may name another language for it (`---js`), which
 * gray-matter would evaluate; that is refused before gray-matter sees it, and gray-matter has no such engine either.
 */
export function readFrontMatter(written: string): FrontMatter {
  const text = written.replace(/^\uFEFF/, '');
  const first = opening.exec(text);
  if (first === null) return { ok: true, data: {}, body: text };
  const language = (first[1] ?? '').trim().toLowerCase();
  if (language !== '' && language !== 'yaml' && language !== 'yml') {
    return refuse(`Its front matter is written in ${JSON.stringify(language.slice(0, 40))}; only YAML is read.`);
  }
  const end = text.indexOf('\n---', 3);
  if (end < 0) return refuse('Its front matter has no end: a second line of three dashes is missing.');
  if (end > maxChars) return refuse(`Its front matter has ${end} characters; at most ${maxChars} are read.`);
  if (hasLongGap(text.slice(0, end))) {
    return refuse(`Its front matter has more than ${maxBlankLines} blank lines in a row.`);
  }
  try {
    const { data, content } = matter(text, { language: 'yaml', engines });
    return { ok: true, data, body: content };
  } catch (error) {
    return refuse(`Its front matter cannot be read: ${describe(error)}`);
  }
}

/** gray-matter looks for comments in a time that grows with the square of such a gap. */
function hasLongGap(text: string): boolean {
  let blank = 0;
  for (const line of text.split(/[\n\r\u2028\u2029]/)) {
    blank = line.trim() === '' ? blank + 1 : 0;
    if (blank > 2 * maxBlankLines) return true;
  }
  return false;
}

function refuseLanguage(): never {
  throw new RangeError('only YAML is read.');
}

/** Those that gray-matter brings itself would run code, or read an old YAML. */
const engines = {
  yaml: { parse: parseYaml },
  javascript: { parse: refuseLanguage },
  json: { parse: refuseLanguage },
  coffee: { parse: refuseLanguage },
};

function parseYaml(written: string): object {
  // gray-matter leaves half a line end of Windows behind.
  const text = written.replace(/\r$/, '');
  const document = parseDocument(text, { version: '1.2', schema: 'core', prettyErrors: false, logLevel: 'error' });
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  const value: unknown = document.toJS({ maxAliasCount: maxAliases });
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new RangeError('it must be a map of keys and values.');
}

function refuse(reason: string): FrontMatter {
  return { ok: false, reason };
}

function describe(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const bounded = line.slice(0, 200);
  return bounded.endsWith('.') ? bounded : `${bounded}.`;
}
