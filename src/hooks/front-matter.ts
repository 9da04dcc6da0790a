import matter from 'gray-matter';
import { parse } from 'yaml';
import { HotcellError } from '../errors/hotcell-error.ts';

/** A Markdown file taken apart. */
export interface FrontMatter {
  /** What stands between the two lines of dashes; nobody has checked it yet. */
  readonly data: unknown;
  readonly body: string;
}

/** gray-matter looks for comments in a time that grows with the square of blank lines: 64 000 of them take seconds. */
const mostChars = 8 * 1024;

/**
 * Splits the front matter of a Markdown file from its text. Only YAML 1.2 between bare `---` lines is read: a word behind the
 * dashes would choose another language, one of which is evaluated as JavaScript. Throws `hook-invalid`.
 */
export function readFrontMatter(text: string, fileName: string): FrontMatter {
  const clean = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [first = ''] = clean.split('\n', 1);
  if (first.trimEnd() !== '---') {
    const found = first === '' ? 'an empty line' : JSON.stringify(first.slice(0, 60));
    throw new HotcellError(
      'hook-invalid',
      `${fileName} must begin with a line of three dashes alone, but begins with ${found}.`,
      {
        fix: 'Write: --- on the first line, then YAML, then --- again.',
      },
    );
  }
  const plain = `---${clean.slice(first.length)}`;
  const end = plain.search(/\n---[ \t]*(?:\n|$)/);
  if (end > mostChars) {
    throw new HotcellError(
      'hook-invalid',
      `The front matter of ${fileName} has ${end} characters; at most ${mostChars} are read.`,
    );
  }
  if (end === -1) {
    throw new HotcellError(
      'hook-invalid',
      `The front matter of ${fileName} has no end: a second line of three dashes is missing.`,
    );
  }
  try {
    const { data, content } = matter(plain, { language: 'yaml', engines: { yaml: parseYaml } });
    return { data, body: content.trim() };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0]?.slice(0, 200) : 'it is no YAML';
    throw new HotcellError('hook-invalid', `The front matter of ${fileName} cannot be read: ${reason}`, {
      fix: 'Correct the YAML between the lines of dashes.',
    });
  }
}

/** Without aliases: a few lines of them unfold into gigabytes. */
function parseYaml(text: string): object {
  const value: unknown = parse(text, { version: '1.2', schema: 'core', maxAliasCount: 0, logLevel: 'error' });
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('it must be a mapping such as "name: guard".');
}
