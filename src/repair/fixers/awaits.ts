import type { Fixer } from './fixer.ts';
import { blankTexts } from './scan-brackets.ts';
import { edit } from './text-edits.ts';

/** What answers with a promise, as plugins write it: parts of the context, `fetch`, and bodies of answers. */
const asking =
  /(?<![\w$.])(?:(?:\w+\s*\.\s*)?(?:kv|files|tools|llm|resources)\s*\.\s*\w+|(?:\w+\s*\.\s*)?fetch|\w+\s*\.\s*(?:json|text|arrayBuffer|confirm|ask|run))\s*\(/g;
/** Before these nothing is waited for because somebody waits elsewhere, or wants the promise. */
const handled = /(?:\bawait|\breturn|=>|\bvoid|[[,(]\s*|\ball\w*\s*\(\s*\[?)\s*$/;
const maxCalls = 8;

/** Waits for what the host answers, in plugins whose types say nothing of it. Only a call that goes well then shows that it was meant. */
export const addAwaits: Fixer = ({ failure, sources }) => {
  if (failure.class !== 'runtime-error' && failure.class !== 'check-failed') return [];
  return [...sources].flatMap(([path, text]) => {
    const blank = blankTexts(text);
    const calls = [...blank.matchAll(asking), ...ownCalls(blank)]
      .filter(({ index }) => !handled.test(blank.slice(Math.max(0, index - 40), index)))
      .slice(0, maxCalls);
    const alone = calls.length > 1 ? calls.map((call) => [call]) : [];
    return [calls, ...alone].map((found) => ({
      file: { path, text },
      edits: found.flatMap(({ index }) => wrap(blank, index)),
      note: 'What the host answers is waited for.',
      sureness: 'maybe' as const,
    }));
  });
};

/** Calls of functions that the file itself declares as async. */
function ownCalls(blank: string): RegExpExecArray[] {
  const names = Array.from(
    blank.matchAll(/\basync\s+function\s+(\w+)|\b(?:const|let)\s+(\w+)[^=\n]*=\s*async\b/g),
    (match) => match[1] ?? match[2],
  );
  return [...new Set(names)].flatMap((name) => [...blank.matchAll(new RegExp(`(?<![\\w$.]|function\\s+)${name}\\s*\\(`, 'g'))]);
}

/** `await` before a call, in parentheses where something of the answer is asked for at once. */
function wrap(blank: string, start: number) {
  const end = endOfCall(blank, start);
  if (end === undefined) return [];
  const isUsed = /^\s*(?:\?\.|[.[])/.test(blank.slice(end));
  // Who handles the promise itself waits in his own way.
  if (/^\s*\.\s*(?:then|catch|finally)\b/.test(blank.slice(end))) return [];
  return isUsed ? [edit(start, 0, '(await '), edit(end, 0, ')')] : [edit(start, 0, 'await ')];
}

/** Where the call that begins there ends, behind its closing bracket. */
export function endOfCall(blank: string, start: number): number | undefined {
  let depth = 0;
  for (let at = blank.indexOf('(', start); at !== -1 && at < blank.length; at++) {
    if ('([{'.includes(blank[at] ?? '')) depth++;
    else if (')]}'.includes(blank[at] ?? '')) depth--;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
