/**
 * How deep the output of a tool may nest. Every reader of JSON has a depth at which it fails, and most fail with an
 * exception in an odd place: the daemon, its clients and models shall never get there.
 */
export const maxOutputDepth = 500;

/** How deep what comes from outside may nest: an output, and what it is wrapped in. */
export const maxInputDepth = maxOutputDepth + 20;

/** JSON from outside that nests deeper is refused with this sentence, before anything reads it. */
export const nestsTooDeep = `It nests deeper than ${maxInputDepth} levels; write it flatter.`;

/** Tells whether arrays and objects of a JSON text nest deeper than `maxDepth`. Takes any text, also one that is no JSON. */
export function nestsDeeper(text: string, maxDepth: number): boolean {
  // Every level takes two characters.
  if (text.length <= maxDepth * 2) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = findEndOfString(text, index);
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function findEndOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
