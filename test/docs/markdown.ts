import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** One fenced block: ```` ```sh ````, or ```` ```sh not-run="why" ````. */
export interface CodeBlock {
  readonly page: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** The file that the block is, when its first line is a comment that names one, or its info string does. */
  readonly file?: string;
  /** Why nothing runs it. */
  readonly notRun?: string;
  readonly text: string;
}

/** README.md and every page below docs/. */
export function listPages(): string[] {
  const below = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = below.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  return ['README.md', 'CHANGELOG.md', ...pages.sort()];
}

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(repository, page), 'utf8');
}

/** The fenced blocks of a page, in order. Throws on a fence that is not closed. */
export function readBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; info: string; fence: string; text: string[] } | undefined;
  for (const [index, line] of readPage(page).split('\n').entries()) {
    const fence = /^(`{3,})(.*)$/.exec(line);
    if (open === undefined) {
      if (fence) open = { line: index + 1, info: (fence[2] ?? '').trim(), fence: fence[1] ?? '', text: [] };
    } else if (fence && line.trim() === open.fence) {
      const named = /^(?:\/\/|#) ([\w./-]+\.\w+)$/.exec(open.text[0] ?? '')?.[1];
      const file = named === undefined ? {} : { file: named };
      blocks.push({ page, line: open.line, ...file, ...readInfo(open.info), text: `${open.text.join('\n')}\n` });
      open = undefined;
    } else open.text.push(line);
  }
  if (open) throw new Error(`${page}:${open.line}: the block is not closed`);
  return blocks;
}

function readInfo(info: string): Pick<CodeBlock, 'language' | 'file' | 'notRun'> {
  const notRun = /\bnot-run="([^"]+)"/.exec(info)?.[1];
  const [language = '', file] = info.replace(/\S+="[^"]*"/g, '').split(/\s+/);
  return {
    language,
    ...(file === undefined || file === '' ? {} : { file }),
    ...(notRun === undefined ? {} : { notRun }),
  };
}

/** The links of a page to other files of the repository, without their anchors. */
export function listLinks(page: string): string[] {
  const prose = readPage(page).replace(/^(`{3,})[\s\S]*?^\1$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(?:https?:|mailto:|#)/.test(target))
    .map((target) => target.split('#', 1)[0] ?? '');
}
