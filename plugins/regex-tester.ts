interface Arguments {
  /** The regular expression in JavaScript syntax, without slashes: (\d+)-(?<tail>\w+) */
  pattern: string;
  /** Flags out of "dimsuvy"; g is implied */
  flags?: string;
  /** The text to search */
  text: string;
  /** When given, also answer the text with every match replaced; $1, $<name> and $& are filled in */
  replacement?: string;
  /** How many matches to answer; default 50, at most 1000 */
  limit?: number;
}

interface Match {
  match: string;
  index: number;
  line: number;
  column: number;
  groups: (string | null)[];
  named?: Record<string, string | null>;
}

const maxTextLength = 500_000;

export default {
  name: 'regex_tester',
  version: '1.0.0',
  description:
    'Runs a JavaScript regular expression over a text and answers all matches with positions and groups, and the replaced text ' +
    'on demand. Use for testing a pattern or for extracting parts of a text. A pattern that backtracks without end is stopped.',
  tags: ['text', 'development'],
  isParallelSafe: true,
  limits: { cpuMs: 2000 },
  examples: [
    {
      args: { pattern: '(\\d{4})-(?<month>\\d\\d)', text: 'from 2024-05\nto 2025-01', limit: 1 },
      expect: {
        count: 2,
        matches: [{ match: '2024-05', index: 5, line: 1, column: 6, groups: ['2024', '05'], named: { month: '05' } }],
        truncated: true,
      },
    },
    {
      args: { pattern: 'colou?r', flags: 'i', text: 'Color', replacement: '<$&>' },
      expect: {
        count: 1,
        matches: [{ match: 'Color', index: 0, line: 1, column: 1, groups: [] }],
        truncated: false,
        replaced: '<Color>',
      },
    },
    { args: { pattern: 'x', text: 'abc' }, expect: { count: 0, matches: [], truncated: false } },
  ],
  handler: ({ pattern, flags = '', text, replacement, limit = 50 }: Arguments) => {
    if (text.length > maxTextLength)
      throw new RangeError(`The text has ${text.length} characters; at most ${maxTextLength} are searched.`);
    const expression = compile(pattern, flags);
    const bound = Math.min(Math.max(Math.floor(limit), 0), 1000);
    const matches: Match[] = [];
    const findPlace = createPlaceFinder(text);
    let count = 0;
    for (const found of text.matchAll(expression)) {
      count += 1;
      if (matches.length < bound) matches.push(describeMatch(found, findPlace));
    }
    const result = { count, matches, truncated: count > matches.length };
    return replacement === undefined ? result : { ...result, replaced: text.replace(expression, replacement) };
  },
};

function compile(pattern: string, flags: string): RegExp {
  const unknown = [...flags].filter((flag) => !'dgimsuvy'.includes(flag));
  if (unknown.length > 0) throw new SyntaxError(`Unknown flag "${unknown[0]}"; flags are out of d, i, m, s, u, v, y.`);
  try {
    return new RegExp(pattern, `g${flags.replace(/g/g, '')}`);
  } catch (error) {
    throw new SyntaxError(`The pattern cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type FindPlace = (index: number) => { line: number; column: number };

function describeMatch(found: RegExpExecArray, findPlace: FindPlace): Match {
  const { index, groups } = found;
  const match: Match = { match: found[0], index, ...findPlace(index), groups: found.slice(1).map((group) => group ?? null) };
  if (groups) match.named = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value ?? null]));
  return match;
}

/** Matches come in order, so lines are counted on from the last one. */
function createPlaceFinder(text: string): FindPlace {
  let line = 1;
  let lineStart = 0;
  return (index) => {
    for (let end = text.indexOf('\n', lineStart); end !== -1 && end < index; end = text.indexOf('\n', lineStart)) {
      line += 1;
      lineStart = end + 1;
    }
    return { line, column: index - lineStart + 1 };
  };
}
