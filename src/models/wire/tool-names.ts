import { createHash } from 'node:crypto';

/** What every provider takes: letters, digits, `_` and `-`, not first a digit or `-`, 64 characters at most. */
const legalName = /^[A-Za-z_][\w-]*$/;
const maxNameChars = 64;
const escapeMark = /_x[\da-f]+_/g;
/** A `_` that would begin such a mark once what follows is written. */
const mistakable = /_(?=x[\da-f]+(?:_|[^\w-]))/g;

/**
 * A name of a tool that every provider takes. Characters that one of them refuses become `_x2f_` (their code point); a name that is too
 * long keeps its beginning and gets a hash. `decodeToolName` turns it back.
 */
export function encodeToolName(name: string): string {
  const unmistakable = name.replaceAll(mistakable, '_x5f_');
  const escaped = Array.from(unmistakable, (char, position) =>
    legalName.test(position === 0 ? char : `_${char}`) ? char : `_x${char.codePointAt(0)?.toString(16)}_`,
  ).join('');
  return escaped.length > maxNameChars ? shorten(name, escaped, maxNameChars) : escaped || '_x_';
}

/** The name that was encoded. `names` are those that it may be: without them long names and names of nobody's encoding stay as they are. */
export function decodeToolName(encoded: string, names: Iterable<string> = []): string {
  for (const name of names) if (encodeToolName(name) === encoded) return name;
  return encoded.replaceAll(escapeMark, (mark) => {
    const code = Number.parseInt(mark.slice(2, -1), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : mark;
  });
}

/** An id of a call that the provider takes; the same id always becomes the same. */
export function encodeCallId(id: string, maxChars: number): string {
  const legal = id.replaceAll(/[^\w-]/g, '_');
  if (id !== '' && legal === id && id.length <= maxChars) return id;
  return shorten(id, legal, maxChars);
}

function shorten(whole: string, legal: string, maxChars: number): string {
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 12);
  return `${legal.slice(0, maxChars - hash.length - 1)}_${hash}`;
}
