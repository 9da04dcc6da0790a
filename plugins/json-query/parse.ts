import {
  type ComparisonOperator,
  type Expression,
  type FunctionName,
  functionArity,
  type Segment,
  type Selector,
} from './syntax.ts';

const maxDepth = 100;
const comparisons: ComparisonOperator[] = ['==', '!=', '<=', '>=', '<', '>'];
const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const namePattern = /[A-Za-z_\u0080-\u{10FFFF}][\w\u0080-\u{10FFFF}]*/uy;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const integerPattern = /-?(?:0|[1-9]\d{0,14})/y;
const wordPattern = /[a-z]+/y;

/** Parses `$.store.book[?@.price < 10].title`; throws a SyntaxError that points at the place. */
export function parseQuery(text: string): Segment[] {
  const parser = createParser(text);
  return parser.parse();
}

function createParser(text: string) {
  let at = 0;
  let depth = 0;

  const fail = (expected: string): never => {
    const found = at < text.length ? `"${text.slice(at, at + 10)}"` : 'the end';
    throw new SyntaxError(
      `Expected ${expected} at character ${at + 1} of the query, and found ${found}.\n  ${text}\n  ${' '.repeat(at)}^`,
    );
  };
  const skipSpace = (): void => {
    while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  };
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  const takeToken = (token: string): boolean => {
    skipSpace();
    return take(token);
  };
  const expect = (token: string): void => {
    if (!takeToken(token)) fail(`"${token}"`);
  };
  const takePattern = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    at += match?.length ?? 0;
    return match;
  };

  function parse(): Segment[] {
    skipSpace();
    if (!take('$')) fail('"$", which is the whole document,');
    const segments = parseSegments();
    skipSpace();
    if (at < text.length) fail('".name", "[…]" or the end');
    return segments;
  }

  function parseSegments(): Segment[] {
    const segments: Segment[] = [];
    for (;;) {
      const before = at;
      skipSpace();
      if (take('..')) segments.push({ descendant: true, selectors: take('[') ? parseBracket() : [parseShorthand()] });
      else if (take('.')) segments.push({ descendant: false, selectors: [parseShorthand()] });
      else if (take('[')) segments.push({ descendant: false, selectors: parseBracket() });
      else {
        at = before;
        return segments;
      }
    }
  }

  function parseShorthand(): Selector {
    if (take('*')) return { kind: 'wildcard' };
    return { kind: 'name', name: takePattern(namePattern) ?? fail('a name or "*"') };
  }

  function parseBracket(): Selector[] {
    const selectors: Selector[] = [];
    do selectors.push(parseSelector());
    while (takeToken(','));
    expect(']');
    return selectors;
  }

  function parseSelector(): Selector {
    skipSpace();
    if (take('*')) return { kind: 'wildcard' };
    if (take('?')) return { kind: 'filter', test: parseOr() };
    if (text[at] === '"' || text[at] === "'") return { kind: 'name', name: parseString() };
    const start = takeInteger();
    if (!takeToken(':')) return { kind: 'index', index: start ?? fail('a name in quotes, an index, a slice, "*" or "?"') };
    const end = takeInteger();
    const step = takeToken(':') ? (takeInteger() ?? 1) : 1;
    return { kind: 'slice', step, ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
  }

  function takeInteger(): number | undefined {
    skipSpace();
    const digits = takePattern(integerPattern);
    return digits === undefined ? undefined : Number(digits);
  }

  function parseOr(): Expression {
    if (++depth > maxDepth) fail(`at most ${maxDepth} levels of nesting`);
    let left = parseAnd();
    while (takeToken('||')) left = { kind: 'or', left, right: parseAnd() };
    depth -= 1;
    return left;
  }

  function parseAnd(): Expression {
    let left = parseNot();
    while (takeToken('&&')) left = { kind: 'and', left, right: parseNot() };
    return left;
  }

  function parseNot(): Expression {
    skipSpace();
    if (text[at] === '!' && text[at + 1] !== '=') {
      at += 1;
      if (++depth > maxDepth) fail(`at most ${maxDepth} levels of nesting`);
      const inner = parseNot();
      depth -= 1;
      return { kind: 'not', inner };
    }
    if (take('(')) {
      const inner = parseOr();
      expect(')');
      return inner;
    }
    return parseComparison();
  }

  function parseComparison(): Expression {
    const left = parseOperand();
    skipSpace();
    const operator = comparisons.find((candidate) => take(candidate));
    return operator ? { kind: 'compare', operator, left, right: parseOperand() } : left;
  }

  function parseOperand(): Expression {
    skipSpace();
    if (take('@')) return { kind: 'query', from: 'current', segments: parseSegments() };
    if (take('$')) return { kind: 'query', from: 'root', segments: parseSegments() };
    if (text[at] === '"' || text[at] === "'") return { kind: 'literal', value: parseString() };
    const number = takePattern(numberPattern);
    if (number !== undefined) return { kind: 'literal', value: Number(number) };
    return parseWord();
  }

  function parseWord(): Expression {
    const start = at;
    const word = takePattern(wordPattern);
    if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
    if (word === 'null') return { kind: 'literal', value: null };
    if (word !== undefined && isFunctionName(word) && take('(')) return parseCall(word);
    at = start;
    return fail('"@", "$", a value, or one of length(…), count(…), value(…), match(…), search(…)');
  }

  function parseCall(name: FunctionName): Expression {
    const args: Expression[] = [];
    do args.push(parseOperand());
    while (takeToken(','));
    expect(')');
    if (args.length !== functionArity[name]) fail(`${functionArity[name]} argument(s) for ${name}`);
    return { kind: 'call', name, args };
  }

  function parseString(): string {
    const quote = text.charAt(at);
    at += 1;
    let value = '';
    for (;;) {
      const character = text[at] ?? fail(`the closing ${quote}`);
      at += 1;
      if (character === quote) return value;
      value += character === '\\' ? parseEscape() : character;
    }
  }

  function parseEscape(): string {
    const character = text[at] ?? fail('a character after "\\"');
    at += 1;
    if (character !== 'u') return escapes[character] ?? character;
    const digits = takePattern(/[0-9a-fA-F]{4}/y) ?? fail('four hexadecimal digits');
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  return { parse };
}

function isFunctionName(word: string): word is FunctionName {
  return Object.hasOwn(functionArity, word);
}
