import { findNearNames } from '../../errors/near-names.ts';
import type { Change, Fixer } from './fixer.ts';
import { edit, findPerFile, keepParsing, lineAt } from './text-edits.ts';
import { isOneSlip } from './typescript-fixes.ts';

const keywords = [
  ...'async await break case catch class const continue default delete else export extends false finally for from function'.split(
    ' ',
  ),
  ...'import instanceof interface return static switch throw true type typeof undefined while yield'.split(' '),
];

/** Words that are a slip away from a keyword, where the syntax is wrong. */
export const mendKeywords: Fixer = (diagnosis, parts) =>
  findPerFile(diagnosis, async (faulty, fault) => {
    const line = lineAt(faulty.text, fault.start);
    const before = lineAt(faulty.text, Math.max(0, line.start - 1));
    const changes = [line, before].flatMap(({ start, text: words }) =>
      Array.from(words.slice(0, 400).matchAll(/(?<![\w$.'"`])[a-zA-Z]{3,12}(?![\w$'"`])/g), ({ 0: word, index }) => {
        const meant = keywords.includes(word) ? [] : findNearNames(word, keywords, 1).filter((near) => isOneSlip(word, near));
        return meant.map((keyword): Change => {
          const note = `Line ${fault.line}: "${word}" was to be "${keyword}".`;
          return { edits: [edit(start + index, word.length, keyword)], note, sureness: 'maybe' };
        });
      }).flat(),
    );
    const parsing = await keepParsing(parts, faulty, changes);
    return parsing.map((change) => ({ ...change, sureness: parsing.length === 1 ? 'sure' : 'maybe' }));
  });
