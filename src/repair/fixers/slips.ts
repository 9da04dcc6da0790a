import type { PluginFault } from '../../typescript/check-types.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Change, Fixer } from './fixer.ts';
import { edit, faultyTexts, lineAt } from './text-edits.ts';
import { isOneSlip } from './typescript-fixes.ts';

/** What a fault of the types leads to, by the number of TypeScript; each reads its own message and the text around it. */
const mends: Readonly<Record<number, (fault: PluginFault, text: string, diagnosis: Diagnosis) => Change | undefined>> = {
  2304: (fault, text) => writeWordOfPython(fault, text) ?? declareCounter(fault, text),
  2552: (fault, text) => writeWordOfPython(fault, text) ?? declareCounter(fault, text),
  2561: takeNearKey,
  2613: (fault, text) => changeImport(fault, text, false),
  2614: (fault, text) => changeImport(fault, text, true),
  2531: askForNothing,
  2532: askForNothing,
  18047: askForNothing,
  18048: askForNothing,
  18049: askForNothing,
  2393: dropRepeated,
  2451: dropRepeated,
  2300: dropRepeated,
};
const maxFaults = 10;
const wordsOfPython: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  nil: 'null',
  elif: 'else if',
};

/** Slips for which TypeScript has words and no change. */
export const mendSlips: Fixer = (diagnosis) =>
  faultyTexts(diagnosis, ({ code }) => mends[code] !== undefined).flatMap((file) =>
    file.faults.slice(0, maxFaults).flatMap((fault) => {
      const change = mends[fault.code]?.(fault, file.text, diagnosis);
      return change === undefined ? [] : [{ ...change, file }];
    }),
  );

function writeWordOfPython({ start, length, line }: PluginFault, text: string): Change | undefined {
  const word = text.slice(start, start + length);
  const meant = wordsOfPython[word];
  if (meant === undefined) return undefined;
  return { edits: [edit(start, length, meant)], note: `Line ${line}: "${word}" is "${meant}" here.`, sureness: 'sure' };
}

/** `for (i = 0; …` of a name that nothing declares. */
function declareCounter({ start, length, line }: PluginFault, text: string): Change | undefined {
  const before = text.slice(Math.max(0, start - 20), start);
  const after = text.slice(start + length, start + length + 8);
  if (!/\bfor \(?\(?$|\bfor\s*\(\s*$/.test(before) || !/^\s*(?:=(?!=)|of\b|in\b)/.test(after)) return undefined;
  const word = /^\s*=/.test(after) ? 'let' : 'const';
  return { edits: [edit(start, 0, `${word} `)], note: `Line ${line}: the loop declared no name of its own.`, sureness: 'sure' };
}

function takeNearKey({ start, length, line, message }: PluginFault, text: string): Change | undefined {
  const meant = /Did you mean to write '([\w$]+)'\?/.exec(message)?.[1];
  const written = text.slice(start, start + length);
  if (meant === undefined || !/^[\w$]+$/.test(written)) return undefined;
  const note = `Line ${line}: "${written}" is called "${meant}".`;
  return { edits: [edit(start, length, meant)], note, sureness: isOneSlip(written, meant) ? 'sure' : 'maybe' };
}

/** `import { a }` of a module that has `a` as its default export, and the other way round. */
function changeImport({ start, line, message }: PluginFault, text: string, toDefault: boolean): Change | undefined {
  const own = lineAt(text, start);
  const form = toDefault ? /^(import\s+)\{\s*([\w$]+)\s*\}(\s+from\b)/ : /^(import\s+)([\w$]+)(\s+from\b)/;
  const [found, before, name, after] = form.exec(own.text) ?? [];
  if (found === undefined || !message.includes('Did you mean to use')) return undefined;
  const newText = `${before}${toDefault ? name : `{ ${name} }`}${after}`;
  const note = `Line ${line}: "${name}" is ${toDefault ? 'the default export' : 'a named export'}.`;
  return { edits: [edit(own.start, found.length, newText)], note, sureness: 'sure' };
}

/** The same declaration once more, word by word. */
function dropRepeated({ start, line }: PluginFault, text: string): Change | undefined {
  const own = declarationAt(text, start);
  if (own === undefined) return undefined;
  const first = text.indexOf(own.text);
  if (first === own.start || text.indexOf(own.text, own.end) !== -1) return undefined;
  const isWhole = first === 0 || text[first - 1] === '\n';
  const note = `Line ${line}: the declaration stood there before.`;
  return isWhole ? { edits: [edit(own.start, own.end - own.start, '')], note, sureness: 'sure' } : undefined;
}

/** The declaration of a name at the beginning of a line, to the line that ends it. */
function declarationAt(text: string, at: number): { start: number; end: number; text: string } | undefined {
  const { start, text: line } = lineAt(text, at);
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (!/^\s*(?:export\s+)?(?:async\s+)?(?:function|const|let|var|class|interface|type|enum)\b/.test(line)) return undefined;
  const isOneLine = /[;}]\s*$/.test(line);
  const rest = text.slice(start);
  const close = isOneLine ? undefined : new RegExp(`\\n${indent}[}\\])][^\\n]*`).exec(rest);
  if (!isOneLine && close === null) return undefined;
  const length = close === undefined || close === null ? line.length : close.index + close[0].length;
  const newline = text[start + length] === '\n' ? 1 : 0;
  return { start, end: start + length + newline, text: text.slice(start, start + length) };
}

/** `?.` where a value may be missing: what happens then may not be what was meant. */
function askForNothing({ start, length, line }: PluginFault, text: string, { failure }: Diagnosis): Change | undefined {
  if (failure.class !== 'runtime-error' || failure.line !== line || text[start + length] !== '.') return undefined;
  return { edits: [edit(start + length, 0, '?')], note: `Line ${line}: the value may be missing.`, sureness: 'maybe' };
}
