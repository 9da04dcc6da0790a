import type { Fixer } from './fixer.ts';
import { edit, failingText, faultyTexts } from './text-edits.ts';

interface Cleaning {
  readonly note: string;
  readonly sureness: 'sure' | 'maybe';
  /** The clean text; undefined where the text is not of the kind. */
  clean(text: string): string | undefined;
}

const fence = /^[ \t]*(?:```|~~~)[ \t]*([\w.+-]*)[ \t]*$/;
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" };

const cleanings: readonly Cleaning[] = [
  { note: 'The fence of a Markdown block stood around the code.', sureness: 'sure', clean: (text) => openFence(text, false) },
  { note: 'Prose stood around the code.', sureness: 'maybe', clean: (text) => openFence(text, true) },
  { note: 'Each line began with its number.', sureness: 'sure', clean: stripNumbers },
  { note: 'Each line began with the "+" of a difference.', sureness: 'sure', clean: stripPluses },
  { note: 'Signs were written as a web page writes them, such as &lt;.', sureness: 'sure', clean: decodeEntities },
  { note: 'A line of dots stood between the code.', sureness: 'maybe', clean: dropDots },
  { note: 'Of two sides of a merge the upper one is kept.', sureness: 'maybe', clean: keepUpperSide },
];

/** Mends what a text carries along from where it was copied. */
export const cleanPastedText: Fixer = (diagnosis) => {
  // A fence may be a template of a template, which compiles and does not load.
  const isBroken = ['does-not-compile', 'does-not-load', 'manifest-invalid'].includes(diagnosis.failure.class);
  const found = isBroken ? [failingText(diagnosis) ?? [], faultyTexts(diagnosis, ({ isSyntax }) => isSyntax)].flat() : [];
  return found.flatMap((file) =>
    cleanings.flatMap(({ note, sureness, clean }) => {
      const newText = clean(file.text);
      return newText === undefined ? [] : [{ file, edits: [edit(0, file.text.length, newText)], note, sureness }];
    }),
  );
};

/** What stands between the first fence and the last, where nothing else does; with prose, that of the only block. */
function openFence(text: string, hasProse: boolean): string | undefined {
  const lines = text.split(/\r?\n/);
  const fences = lines.flatMap((line, index) => (fence.test(line) ? [index] : []));
  const [first, last = lines.length] = fences.length > 2 ? findPluginBlock(lines, fences) : fences;
  if (first === undefined) return undefined;
  const around = [...lines.slice(0, first), ...lines.slice(last + 1)];
  if (around.some((line) => line.trim() !== '') !== hasProse) return undefined;
  return `${lines
    .slice(first + 1, last)
    .join('\n')
    .trim()}\n`;
}

/** Of several blocks the only one that exports something. */
function findPluginBlock(lines: readonly string[], fences: readonly number[]): readonly number[] {
  const blocks = fences.flatMap((first, index) => (index % 2 === 0 ? [[first, fences[index + 1] ?? lines.length] as const] : []));
  const [only, ...others] = blocks.filter(([first, last]) =>
    lines.slice(first + 1, last).some((line) => /^(?:export\s|module\.exports\b|exports\.)/.test(line)),
  );
  return only === undefined || others.length > 0 ? [] : only;
}

/** A line of dots stands for what a model left out: whether anything is missing without it, nobody knows. */
function dropDots(text: string): string | undefined {
  const kept = text.split('\n').filter((line) => !/^\s*(?:\.\.\.|…)\s*$/.test(line));
  return kept.length < text.split('\n').length ? kept.join('\n') : undefined;
}

function stripNumbers(text: string): string | undefined {
  const lines = text.trimEnd().split(/\r?\n/);
  const numbers = lines.map((line) => /^\s*(\d+)(?:\s*[|:.)]|\t|\s{2,}|$)/.exec(line)?.[1]);
  const [first] = numbers;
  if (lines.length < 3 || first === undefined || numbers.some((number, index) => Number(number) !== Number(first) + index)) {
    return undefined;
  }
  return `${lines.map((line) => line.replace(/^\s*\d+(?:\s*[|:.)] ?|\t|\s{2}|$)/, '')).join('\n')}\n`;
}

function stripPluses(text: string): string | undefined {
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.length < 3 || lines.some((line) => !line.startsWith('+'))) return undefined;
  const mark = lines.every((line) => line === '+' || line.startsWith('+ ')) && lines.some((line) => /^\+ \S/.test(line)) ? 2 : 1;
  return `${lines.map((line) => line.slice(mark)).join('\n')}\n`;
}

function decodeEntities(text: string): string | undefined {
  // A text that has the signs themselves has the others on purpose.
  const isCode = !/[<>]/.test(text) && /=&gt;|&amp;&amp;|&lt;=|&lt;\w{1,40}&gt;|&quot;/.test(text);
  return isCode ? text.replace(/&(?:lt|gt|amp|quot|#39);/g, (entity) => entities[entity] ?? entity) : undefined;
}

function keepUpperSide(text: string): string | undefined {
  const kept: string[] = [];
  let side: 'both' | 'upper' | 'lower' = 'both';
  for (const line of text.split('\n')) {
    const mark = /^(?:<{7}|[|=]{7}|>{7})(?: |$)/.exec(line)?.[0]?.[0];
    if (mark === '<') side = 'upper';
    else if (mark === '>') side = 'both';
    else if (mark !== undefined && side !== 'both') side = 'lower';
    else if (side !== 'lower') kept.push(line);
  }
  return side === 'both' && kept.length < text.split('\n').length ? kept.join('\n') : undefined;
}
