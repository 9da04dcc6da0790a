type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const literals = ['true', 'false', 'null'];
const number = /^-?(?:0|[1-9]\d*)?(?:(?<=\d)\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?$/;

/**
 * Follows a JSON object as it comes. A character counts as sure once what follows it fits, so that what a repair would change (a comma too
 * many, a quotation mark within a string, the end) has not been passed on yet.
 */
export function createJsonPrefix() {
  const closers: string[] = [];
  let expected: Expected = 'value';
  let isInString: 'key' | 'value' | undefined;
  let escaped = '';
  let token = '';
  let isBroken = false;
  let waiting = '';

  function accept(char: string): boolean {
    if (isInString !== undefined) return acceptInString(char);
    if (token !== '' && /[-+.\w]/.test(char)) return extendToken(char);
    if (token !== '' && !endToken()) return false;
    if (/\s/.test(char)) return /[ \t\r\n]/.test(char);
    if (char === '"') {
      if (expected !== 'key' && expected !== 'key-or-end' && !isValueDue()) return false;
      if (closers.length === 0) return false;
      isInString = expected === 'key' || expected === 'key-or-end' ? 'key' : 'value';
      return true;
    }
    if (char === ':') return expected === 'colon' && become('value');
    if (char === ',') return expected === 'comma-or-end' && become(closers.at(-1) === '}' ? 'key' : 'value');
    if (char === '{' || char === '[') {
      if (!isValueDue() || (closers.length === 0 && char === '[')) return false;
      closers.push(char === '{' ? '}' : ']');
      return become(char === '{' ? 'key-or-end' : 'value-or-end');
    }
    if (char === '}' || char === ']') {
      const mayEnd = expected === 'comma-or-end' || expected === (char === '}' ? 'key-or-end' : 'value-or-end');
      if (!mayEnd || closers.pop() !== char) return false;
      return become(closers.length === 0 ? 'nothing' : 'comma-or-end');
    }
    return isValueDue() && closers.length > 0 && extendToken(char);
  }

  function acceptInString(char: string): boolean {
    if (escaped !== '') {
      escaped += char;
      if (!/^\\(?:["\\/bfnrt]|u[\da-fA-F]{0,4})$/.test(escaped)) return false;
      if (escaped[1] !== 'u' || escaped.length === 6) escaped = '';
      return true;
    }
    if (char === '\\') escaped = char;
    else if (char === '"') {
      expected = isInString === 'key' ? 'colon' : 'comma-or-end';
      isInString = undefined;
    } else return char >= ' ';
    return true;
  }

  function isValueDue(): boolean {
    return expected === 'value' || expected === 'value-or-end';
  }

  function become(next: Expected): boolean {
    expected = next;
    return true;
  }

  function extendToken(char: string): boolean {
    token += char;
    return number.test(token) || literals.some((literal) => literal.startsWith(token));
  }

  function endToken(): boolean {
    const isWhole = /\d$/.test(token) || literals.includes(token);
    token = '';
    expected = 'comma-or-end';
    return isWhole;
  }

  /** What comes after a mark or a comma decides whether it stays; the last bracket may be followed by more. */
  function isSure(char: string): boolean {
    if (isInString !== undefined) return char !== '"' && escaped === '';
    return token !== '' || char === ':' || char === '{' || char === '[';
  }

  return {
    /** Takes the next piece; answers what of the text so far is sure to stay as it is, beyond what was answered before. */
    push(piece: string): string {
      let sure = '';
      for (const char of piece) {
        isBroken ||= !accept(char);
        if (isBroken) break;
        waiting += char;
        if (!isSure(char)) continue;
        sure += waiting;
        waiting = '';
      }
      return sure;
    },
  };
}
