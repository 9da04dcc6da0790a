import type { Comment } from 'oxc-parser';

/** A doc comment: its text, and its tags in order. */
export interface DocComment {
  readonly text: string;
  readonly tags: ReadonlyArray<{ readonly name: string; readonly text: string }>;
}

const maxTextLength = 2000;

/** The `/** … *\/` comment that ends right before `offset`, with nothing but white space between. */
export function findDocComment(source: { text: string; comments: readonly Comment[] }, offset: number): DocComment | undefined {
  let low = 0;
  let high = source.comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((source.comments[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  const comment = source.comments[low - 1];
  if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return undefined;
  if (source.text.slice(comment.end, offset).trim() !== '') return undefined;
  return parseDocComment(comment.value);
}

function parseDocComment(value: string): DocComment {
  const lines = value
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const tags: Array<{ name: string; text: string }> = [];
  const text: string[] = [];
  for (const line of lines) {
    const tag = /^\s*@([A-Za-z]+)\s?(.*)$/.exec(line);
    const last = tags.at(-1);
    if (tag) tags.push({ name: tag[1] ?? '', text: tag[2] ?? '' });
    else if (last) last.text = `${last.text}\n${line}`;
    else text.push(line);
  }
  return {
    text: fold(text.join('\n')),
    tags: tags.map((tag) => ({ name: tag.name, text: tag.text.trim() })),
  };
}

// Lines of a paragraph are one line to a model; empty lines stay.
function fold(text: string): string {
  const folded = text.trim().replace(/([^\n])\n(?!\n|[-*] )/g, '$1 ');
  return folded.slice(0, maxTextLength);
}

/** The keywords that doc tags say: `@default 3`, `@minimum 1`, `@maxLength 10`, `@format uri`. */
export function tagsToKeywords(doc: DocComment): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  for (const { name, text } of doc.tags) {
    if (name === 'default' || name === 'defaultValue') {
      const value = readJson(text);
      if (value !== undefined) keywords.default = value;
    } else if (numericTags.has(name) && text !== '' && Number.isFinite(Number(text))) {
      keywords[name] = Number(text);
    } else if (name === 'format' && /^[a-z-]{1,40}$/.test(text)) {
      keywords.format = text;
    }
  }
  return keywords;
}

const numericTags: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'multipleOf',
]);

function readJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^'(.*)'$/, '"$1"'));
  } catch {
    return undefined;
  }
}
