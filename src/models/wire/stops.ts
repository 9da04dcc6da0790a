import type { AnswerStop } from '../../conversation/answer.ts';

type Kind = AnswerStop['kind'];

/**
 * Reads and writes why an answer ended, by the words that a format has for it. Of several words for the same the first is written, the
 * others are kept; `more` are written only, and what has no word ends as the very first says.
 */
export function describeStops(
  format: string,
  kinds: Readonly<Record<string, Kind>>,
  more: Readonly<Partial<Record<Kind, string>>>,
): { read(reason: unknown): AnswerStop; write(stop: AnswerStop): string } {
  const kindByWord = new Map(Object.entries(kinds));
  const [usual = ''] = kindByWord.keys();
  const wordByKind = new Map<string, string>(Object.entries(more));
  for (const [word, kind] of kindByWord) if (!wordByKind.has(kind)) wordByKind.set(kind, word);
  return {
    read(reason) {
      if (typeof reason !== 'string') return { kind: 'interrupted' };
      const kind = kindByWord.get(reason) ?? 'other';
      return wordByKind.get(kind) === reason ? { kind } : { kind, native: { format, value: reason } };
    },
    write: ({ kind, native }) => (native?.format === format ? native.value : (wordByKind.get(kind) ?? usual)),
  };
}
