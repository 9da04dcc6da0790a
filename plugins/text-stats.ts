/** How much to say about the words of the text. */
interface Options {
  /** The text to measure */
  text: string;
  /** How many of the most frequent words to list, longest first among equals; default 5 */
  topWords?: number;
  /** Reading speed for the estimate, in words a minute; default 230 */
  wordsPerMinute?: number;
}

// A word is a run of letters and digits, with apostrophes and hyphens inside: "don't" and "well-known" are one word each.
const wordPattern = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

export default {
  name: 'text_stats',
  version: '1.0.0',
  description:
    'Counts characters, words, sentences, paragraphs and lines of a text, with its most frequent words and reading time. ' +
    'Use for questions about the length of a text; do not count yourself.',
  tags: ['text'],
  isParallelSafe: true,
  examples: [
    {
      args: { text: 'The cat sat. The dog did not!', topWords: 1 },
      expect: {
        characters: 29,
        charactersWithoutSpaces: 23,
        words: 7,
        uniqueWords: 6,
        sentences: 2,
        paragraphs: 1,
        lines: 1,
        averageWordLength: 3,
        readingSeconds: 2,
        topWords: [{ word: 'the', count: 2 }],
      },
    },
    { args: { text: '', topWords: 0 }, expect: emptyStatistics() },
  ],
  handler: ({ text, topWords = 5, wordsPerMinute = 230 }: Options) => {
    if (!(wordsPerMinute > 0)) throw new RangeError(`wordsPerMinute must be above 0, and is ${wordsPerMinute}.`);
    const words = text.match(wordPattern) ?? [];
    if (text === '') return emptyStatistics();
    const counts = countWords(words);
    const letters = words.reduce((total, word) => total + [...word].length, 0);
    return {
      characters: [...text].length,
      charactersWithoutSpaces: [...text.replace(/\s/gu, '')].length,
      words: words.length,
      uniqueWords: counts.size,
      sentences: countSentences(text),
      paragraphs: text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '').length,
      lines: text.split(/\r\n|\n|\r/).length,
      averageWordLength: words.length === 0 ? 0 : Math.round((letters / words.length) * 100) / 100,
      readingSeconds: Math.ceil((words.length / wordsPerMinute) * 60),
      topWords: rankWords(counts, topWords),
    };
  },
};

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    const key = word.toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** A sentence ends with . ! ? or … (and what closes it) before a space or the end; a text without one is one sentence. */
function countSentences(text: string): number {
  const ends = text.match(/[.!?…]+["'”’)\]]*(?=\s|$)/gu) ?? [];
  const tail = text.trimEnd().at(-1) ?? '';
  const hasOpenEnd = tail !== '' && !/[.!?…"'”’)\]]/u.test(tail);
  return ends.length + (hasOpenEnd ? 1 : 0);
}

function rankWords(counts: Map<string, number>, limit: number) {
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || b.length - a.length || (a < b ? -1 : 1))
    .slice(0, Math.max(0, limit))
    .map(([word, count]) => ({ word, count }));
}

function emptyStatistics() {
  return {
    characters: 0,
    charactersWithoutSpaces: 0,
    words: 0,
    uniqueWords: 0,
    sentences: 0,
    paragraphs: 0,
    lines: 0,
    averageWordLength: 0,
    readingSeconds: 0,
    topWords: [],
  };
}
