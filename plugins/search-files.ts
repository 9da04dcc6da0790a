import type { Context } from 'hotcell';

interface Arguments {
  /** Text to find, or a regular expression when `regex` is set */
  query: string;
  /** Folder of the workspace to search; default all of it */
  folder?: string;
  /** Only files whose names end so, such as ".md" */
  suffix?: string;
  /** Read the query as a regular expression */
  regex?: boolean;
  /** How many matching lines to answer; default 50, at most 500 */
  limit?: number;
}

interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const maxFiles = 500;
const maxDepth = 8;
const maxFileBytes = 500_000;
const maxShownLength = 300;

export default {
  name: 'search_files',
  version: '1.0.0',
  description:
    'Finds lines in the text files of the workspace, with file and line number. Use for questions about where something is written.',
  tags: ['files'],
  // "." is the caller's whole workspace; a narrower request would be ['notes', 'docs'].
  permissions: { read: ['.'] },
  limits: { hostCalls: 2000 },
  isParallelSafe: true,
  examples: [
    { args: { query: 'no file contains this', suffix: '.none' }, expect: { hits: [], filesSearched: 0, truncated: false } },
  ],
  handler: async ({ query, folder = '.', suffix = '', regex = false, limit = 50 }: Arguments, context: Context) => {
    if (query === '') throw new TypeError('The query is empty; say what to find.');
    const matches = regex ? createPatternTest(query) : createTextTest(query);
    const bound = Math.min(Math.max(Math.floor(limit), 1), 500);
    const hits: Hit[] = [];
    let filesSearched = 0;
    for await (const { path, size } of walk(context.files, folder)) {
      if (!path.endsWith(suffix) || size > maxFileBytes) continue;
      filesSearched += 1;
      context.progress(filesSearched, undefined, path);
      hits.push(...findLines(path, await context.files.read(path), matches));
      if (hits.length > bound || filesSearched >= maxFiles) {
        return { hits: hits.slice(0, bound), filesSearched, truncated: true };
      }
    }
    return { hits, filesSearched, truncated: false };
  },
};

function createTextTest(query: string): (line: string) => boolean {
  const wanted = query.toLowerCase();
  return (line) => line.toLowerCase().includes(wanted);
}

function createPatternTest(query: string): (line: string) => boolean {
  const pattern = new RegExp(query, 'iu');
  return (line) => pattern.test(line);
}

async function* walk(files: Context['files'], folder: string, depth = 0): AsyncGenerator<{ path: string; size: number }> {
  if (depth > maxDepth) return;
  for (const { name, type } of (await files.list(folder)).items) {
    const path = folder === '.' ? name : `${folder}/${name}`;
    if (type === 'folder') yield* walk(files, path, depth + 1);
    if (type === 'file') yield { path, size: (await files.stat(path)).size };
  }
}

function findLines(file: string, text: string, matches: (line: string) => boolean): Hit[] {
  // A zero byte is what text does not have.
  if (text.includes('\0')) return [];
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (!matches(line)) return [];
    return [{ file, line: index + 1, text: line.length > maxShownLength ? `${line.slice(0, maxShownLength)}…` : line }];
  });
}
