interface Arguments {
  /** The old text */
  before: string;
  /** The new text */
  after: string;
  /** Compare lines (default), words or characters */
  by?: 'lines' | 'words' | 'characters';
  /** Unchanged lines around a change in the unified output; default 3 */
  context?: number;
  /** Treat lines or words that differ in white space or case only as equal */
  ignore?: ('whitespace' | 'case')[];
}

type Edit = { readonly kind: 'keep' | 'add' | 'remove'; readonly text: string };

const maxParts = 200_000;
// The way back needs memory by the square of the edits: 9 MB for these.
const maxEdits = 1500;

export default {
  name: 'text_diff',
  version: '1.0.0',
  description:
    'Compares two texts and answers what was added and removed: a unified diff for lines, marked text for words and characters. ' +
    'Use for every question about what changed between two versions.',
  tags: ['text', 'development'],
  isParallelSafe: true,
  examples: [
    {
      args: { before: 'a\nb\nc\n', after: 'a\nB\nc\nd\n', context: 1 },
      expect: { equal: false, added: 2, removed: 1, diff: '@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n' },
    },
    {
      args: { before: 'the quick fox', after: 'the slow fox', by: 'words' },
      expect: { equal: false, added: 1, removed: 1, diff: 'the [-quick-]{+slow+} fox' },
    },
    {
      args: { before: 'Same', after: 'same ', ignore: ['case', 'whitespace'] },
      expect: { equal: true, added: 0, removed: 0, diff: '' },
    },
  ],
  handler: ({ before, after, by = 'lines', context = 3, ignore = [] }: Arguments) => {
    const normalize = createNormalizer(ignore);
    const edits = diffParts(split(before, by), split(after, by), normalize);
    const added = edits.filter((edit) => edit.kind === 'add').length;
    const removed = edits.filter((edit) => edit.kind === 'remove').length;
    if (added + removed === 0) return { equal: true, added, removed, diff: '' };
    const diff = by === 'lines' ? writeUnified(edits, Math.max(0, Math.floor(context))) : writeMarked(edits);
    return { equal: false, added, removed, diff };
  },
};

function split(text: string, by: 'lines' | 'words' | 'characters'): string[] {
  const parts =
    by === 'characters' ? [...text] : by === 'words' ? (text.match(/\s+|[\p{L}\p{N}_]+|./gsu) ?? []) : splitLines(text);
  if (parts.length > maxParts) throw new RangeError(`The text has ${parts.length} ${by}; at most ${maxParts} are compared.`);
  return parts;
}

function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function createNormalizer(ignore: readonly string[]): (text: string) => string {
  return (text) => {
    const folded = ignore.includes('case') ? text.toLowerCase() : text;
    return ignore.includes('whitespace') ? folded.replace(/\s+/g, ' ').trim() : folded;
  };
}

function diffParts(before: string[], after: string[], normalize: (text: string) => string): Edit[] {
  const [left, right] = [before.map(normalize), after.map(normalize)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let tail = 0;
  const shorter = Math.min(left.length, right.length) - start;
  while (tail < shorter && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
  const middle = findEdits(left.slice(start, left.length - tail), right.slice(start, right.length - tail));
  const edits: Edit[] = before.slice(0, start).map((text) => ({ kind: 'keep', text }));
  let [oldAt, newAt] = [start, start];
  for (const kind of middle) {
    if (kind === 'add') edits.push({ kind, text: after[newAt] ?? '' });
    else edits.push({ kind, text: before[oldAt] ?? '' });
    if (kind !== 'add') oldAt += 1;
    if (kind !== 'remove') newAt += 1;
  }
  edits.push(...before.slice(before.length - tail).map((text) => ({ kind: 'keep', text }) as const));
  return edits;
}

/**
 * The shortest edit script by Myers ("An O(ND) Difference Algorithm and Its Variations", 1986): for every number of edits
 * the furthest point on every diagonal is kept, and the way is walked back from the end.
 */
function findEdits(left: readonly string[], right: readonly string[]): Edit['kind'][] {
  const history: Int32Array[] = [];
  let furthest = new Int32Array(3);
  for (let edits = 0; edits <= Math.min(left.length + right.length, maxEdits); edits++) {
    history.push(furthest);
    const next = new Int32Array(2 * edits + 5);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let { x } = enterDiagonal(furthest, edits, diagonal);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      if (x >= left.length && x - diagonal >= right.length) return walkBack(history, left.length, right.length);
      next[diagonal + edits + 2] = x;
    }
    furthest = next;
  }
  // The texts have little in common: everything out, everything in.
  return [...left.map(() => 'remove' as const), ...right.map(() => 'add' as const)];
}

/** A path enters a diagonal by an addition from the one above or by a removal from the one below, whichever is further. */
function enterDiagonal(furthest: Int32Array, edits: number, diagonal: number): { x: number; kind: 'add' | 'remove' } {
  const above = furthest[diagonal + edits + 2] ?? 0;
  const below = furthest[diagonal + edits] ?? 0;
  const isAddition = diagonal === -edits || (diagonal !== edits && below < above);
  return isAddition ? { x: above, kind: 'add' } : { x: below + 1, kind: 'remove' };
}

function walkBack(history: readonly Int32Array[], oldLength: number, newLength: number): Edit['kind'][] {
  const kinds: Edit['kind'][] = [];
  let [x, y] = [oldLength, newLength];
  for (let edits = history.length - 1; edits > 0; edits--) {
    const entered = enterDiagonal(history[edits] ?? new Int32Array(), edits, x - y);
    for (; x > entered.x; x--, y--) kinds.push('keep');
    kinds.push(entered.kind);
    if (entered.kind === 'add') y -= 1;
    else x -= 1;
  }
  for (; x > 0; x--) kinds.push('keep');
  return kinds.reverse();
}

const signs = { keep: ' ', add: '+', remove: '-' };

/** Hunks as `diff -u` writes them, without file names. */
function writeUnified(edits: readonly Edit[], context: number): string {
  let output = '';
  let [oldLine, newLine] = [1, 1];
  let from = 0;
  for (const { start, end } of findHunks(edits, context)) {
    for (; from < start; from++) [oldLine, newLine] = advance(edits[from], oldLine, newLine);
    const hunk = edits.slice(start, end);
    const oldCount = hunk.filter((edit) => edit.kind !== 'add').length;
    const newCount = hunk.filter((edit) => edit.kind !== 'remove').length;
    output += `@@ -${formatRange(oldLine, oldCount)} +${formatRange(newLine, newCount)} @@\n`;
    for (const edit of hunk) output += `${signs[edit.kind]}${edit.text}\n`;
  }
  return output;
}

function advance(edit: Edit | undefined, oldLine: number, newLine: number): [number, number] {
  return [edit?.kind === 'add' ? oldLine : oldLine + 1, edit?.kind === 'remove' ? newLine : newLine + 1];
}

/** A range of one line is only its number; an empty one names the line before it. */
function formatRange(line: number, count: number): string {
  if (count === 1) return String(line);
  return count === 0 ? `${line - 1},0` : `${line},${count}`;
}

function findHunks(edits: readonly Edit[], context: number): { start: number; end: number }[] {
  const hunks: { start: number; end: number }[] = [];
  edits.forEach((edit, index) => {
    if (edit.kind === 'keep') return;
    const start = Math.max(0, index - context);
    const end = Math.min(edits.length, index + context + 1);
    const last = hunks.at(-1);
    if (last && start <= last.end) last.end = end;
    else hunks.push({ start, end });
  });
  return hunks;
}

/** Changes in place, as `git diff --word-diff` marks them: [-removed-]{+added+}. */
function writeMarked(edits: readonly Edit[]): string {
  let output = '';
  for (let at = 0; at < edits.length; ) {
    const kind = edits[at]?.kind ?? 'keep';
    let end = at;
    while (end < edits.length && edits[end]?.kind === kind) end += 1;
    const text = edits
      .slice(at, end)
      .map((edit) => edit.text)
      .join('');
    output += kind === 'keep' ? text : kind === 'add' ? `{+${text}+}` : `[-${text}-]`;
    at = end;
  }
  return output;
}
