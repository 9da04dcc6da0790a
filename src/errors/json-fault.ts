/** Where a text that is no JSON stops being JSON, for people: both count from 1, columns in characters. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  /** What stands there, in a few words. */
  readonly found: string;
}

/** Finds the place at which `JSON.parse` gave up; undefined for a text that is JSON. Linear, and without recursion. */
export function findJsonFault(text: string): JsonFault | undefined {
  const at = findFault(text);
  if (at === undefined) return undefined;
  const before = text.slice(0, at).split('\n');
  const found = at >= text.length ? 'the end of the text' : JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1, found };
}

const space = /[ \t\n\r]*/y;
const word = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What must come next. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'separator' | 'nothing';

function findFault(text: string): number | undefined {
  const open: ('{' | '[')[] = [];
  let awaited: Expected = 'value';
  let at = 0;

  const isOver = (): boolean => awaited === 'nothing';

  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  }

  /** True when a whole string was read; else `at` is where it is wrong. */
  function readString(): boolean {
    if (text[at] !== '"') return false;
    for (at++; at < text.length; ) {
      if (text[at] === '"') {
        at++;
        return true;
      }
      if (text[at] === '\\') {
        if (!match(escaped)) return false;
      } else if (text.charCodeAt(at) < 0x20) return false;
      else at++;
    }
    return false;
  }

  function close(bracket: '{' | '['): boolean {
    if (open.at(-1) !== bracket) return false;
    open.pop();
    awaited = open.length === 0 ? 'nothing' : 'separator';
    at++;
    return true;
  }

  function readValue(): boolean {
    const first = text[at];
    if (first === '{' || first === '[') {
      open.push(first);
      awaited = first === '{' ? 'key-or-end' : 'value-or-end';
      at++;
      return true;
    }
    if (first === '"' ? !readString() : !match(word)) return false;
    awaited = open.length === 0 ? 'nothing' : 'separator';
    return true;
  }

  function readKey(): boolean {
    if (!readString()) return false;
    match(space);
    if (text[at] !== ':') return false;
    at++;
    awaited = 'value';
    return true;
  }

  function step(): boolean {
    const next = text[at];
    if (awaited === 'separator') {
      if (next === ',') {
        awaited = open.at(-1) === '{' ? 'key' : 'value';
        at++;
        return true;
      }
      return next === '}' ? close('{') : next === ']' && close('[');
    }
    if (awaited === 'key-or-end' && next === '}') return close('{');
    if (awaited === 'value-or-end' && next === ']') return close('[');
    return awaited === 'key' || awaited === 'key-or-end' ? readKey() : readValue();
  }

  for (;;) {
    match(space);
    if (isOver()) return at === text.length ? undefined : at;
    if (!step()) return at;
  }
}

/** The sentence about it, after a name of the text: `is not valid JSON at line 2, column 7: "}" stands there`. */
export function describeJsonFault(text: string): string {
  const fault = findJsonFault(text);
  if (fault === undefined) return 'is not valid JSON';
  return `is not valid JSON at line ${fault.line}, column ${fault.column}: ${fault.found} stands there`;
}
