import type { PluginFault } from '../../typescript/check-types.ts';
import type { Change, Fixer } from './fixer.ts';
import { edit, type FaultyText, findPerFile, keepParsing, lineAt } from './text-edits.ts';

/** What was expected, and that of an enum. */
const expected: ReadonlySet<number> = new Set([1005, 1357]);
/** What may have been lost between two tokens. */
const tokens = [',', ':', ';', '=', '=>', '(', ')', '[', ']', '{', '}', '.', '?', '+', '-', '*', '/', '&&', '||', '??', '<', '>'];
/** Of these one is certain where no other token fits. A bracket may have been lost elsewhere, and an operator may be another. */
const between: ReadonlySet<string> = new Set([',', ':', '=', '=>', 'from', 'of', 'in']);
const words = ['from', 'of', 'in', 'as', 'await', 'new', 'return'];

/**
 * Puts back the token of which TypeScript says that it was expected. It is sure where no other could stand there, or where the
 * layout leaves no other: a list that goes on with the next key on the next line.
 */
export const addExpectedTokens: Fixer = (diagnosis, parts) =>
  findPerFile(diagnosis, async (faulty, fault) => {
    if (!expected.has(fault.code)) return [];
    const parsing = await keepParsing(parts, faulty, proposeTokens(faulty, fault));
    const named = parsing.find(({ token }) => fault.message.startsWith(`'${token}'`)) ?? parsing[0];
    // Two that are written in other ways, and are the same to a reader, do not occur among these.
    const ordered = named === undefined ? [] : [named, ...parsing.filter((change) => change !== named).slice(0, 3)];
    return ordered.map((change) => {
      const isOnly = parsing.length === 1 && between.has(change.token);
      const isSure = isOnly || isCertain(faulty.text, change.at, fault.start, change.token);
      return { ...change, sureness: isSure ? 'sure' : 'maybe' };
    });
  });

function proposeTokens({ text }: FaultyText, fault: PluginFault) {
  const at = text.slice(0, fault.start).trimEnd().length;
  if (lineAt(text, Math.max(0, at - 1)).text.includes('//')) return [];
  const { line } = fault;
  return [...tokens, ...words].map((token): Change & { readonly token: string; readonly at: number } => ({
    token,
    at,
    edits: [edit(at, 0, /^\w|^(?:=>|[=?+\-*/&|])/.test(token) ? ` ${token}` : token)],
    note: `"${token}" was missing before line ${line}.`,
    sureness: 'maybe',
  }));
}

/** What stands on both sides of the gap leaves one token. */
function isCertain(text: string, at: number, next: number, token: string): boolean {
  const before = text.slice(Math.max(lineAt(text, at).start, at - 300), at);
  const after = text.slice(next, next + 80);
  switch (token) {
    case ',':
      // A key, or another object, on a line of its own: nothing else of a list begins so.
      if (!text.slice(at, next).includes('\n')) return false;
      return (
        /^(?:['"]?[\w$-]{1,60}['"]?\??:\s|(?:async )?[\w$]{1,60}\([\w$,: ]{0,60}\)\s*\{)/.test(after) ||
        /\}$/.test(before) === /^\{/.test(after)
      );
    case '=':
      return /(?:^|\s)(?:const|let|var)\s+[\w$]+$/.test(before);
    case '=>':
      return before.endsWith(')') && after.startsWith('{');
    case '(':
      return /\b(?:if|while|for|switch|catch)$/.test(before);
    case ':':
      return (
        /\b(?:case\s[^:?]+|default)$/.test(before) ||
        (/[{,]\s*[\w$]+$/.test(before.replace(/^\s+/, '{')) && /^['"`{[\d]|^async\b/.test(after))
      );
    case 'from':
      return /\bimport\b[^'"]*$/.test(before);
    default:
      return false;
  }
}
