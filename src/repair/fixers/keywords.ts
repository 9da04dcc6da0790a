import { findNearNames } from '../../errors/near-names.ts';
import type { Fixer } from './fixer.ts';
import { type Change, edit, faultyTexts, keepParsing, lineAt, toProposal } from './text-edits.ts';
import { isOneSlip } from './typescript-fixes.ts';

const keywords = [
  ...'async await break case catch class const continue default delete else export extends false finally for from function'.split(
    ' ',
  ),
  ...'import instanceof interface return static switch throw true type typeof undefined while yield'.split(' '),
];

/** Words that are a slip away from a keyword, where the syntax is wrong. */
export const keywordSlips: Fixer = {
  name: 'keywords',
  sureness: 'sure',
  async propose(diagnosis, parts) {
    const found = faultyTexts(diagnosis, ({ isSyntax }) => isSyntax).slice(0, 2);
    const proposals = found.map(async (faulty) => {
      const [fault] = faulty.faults;
      if (fault === undefined) return [];
      const { text } = faulty;
      const line = lineAt(text, fault.start);
      const before = lineAt(text, Math.max(0, line.start - 1));
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
      return parsing.flatMap((change) =>
        toProposal('keywords', faulty, { ...change, sureness: parsing.length === 1 ? 'sure' : 'maybe' }),
      );
    });
    return (await Promise.all(proposals)).flat();
  },
};
