import { structuredPatch } from 'diff';

const maxComparedChars = 200_000;
const maxDiffChars = 16_000;

/** The difference between two sets of texts as people read it, bounded; files are named as `nameOf` shows them. */
export function describeDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  nameOf: (path: string) => string,
): string {
  const parts: string[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [from = '', to = ''] = [before.get(path), after.get(path)];
    if (from !== to) parts.push(describeFile(nameOf(path), from, to));
  }
  return cutText(parts.join('\n'), maxDiffChars);
}

/** A text that may be too long, with how much of it is left out. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}\n… ${text.length - maxChars} characters more`;
}

function describeFile(name: string, from: string, to: string): string {
  const isLarge = from.length + to.length > maxComparedChars;
  const patch = isLarge ? undefined : structuredPatch(name, name, from, to, '', '', { context: 3, maxEditLength: 2000 });
  if (patch === undefined) return `${name}: too much differs to be shown.`;
  const hunks = patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
  );
  return [`--- ${name}`, `+++ ${name}`, ...hunks].join('\n');
}
