/** node:querystring. */

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

type Value = string | number | bigint | boolean;

function escapeText(text: unknown): string {
  return encodeURIComponent(String(text).toWellFormed());
}

function unescapeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Broken escapes stay as they are, the others are read byte by byte.
    return text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
      new TextDecoder().decode(Uint8Array.from(run.slice(1).split('%'), (byte) => Number.parseInt(byte, 16))),
    );
  }
}

export function parse(
  query: unknown,
  separator = '&',
  equals = '=',
  options: { maxKeys?: number; decodeURIComponent?: (text: string) => string } = {},
): Record<string, string | string[]> {
  const { maxKeys = 1000, decodeURIComponent: decode = unescapeText } = options;
  const parsed: Record<string, string | string[]> = Object.create(null);
  if (typeof query !== 'string' || query === '') return parsed;
  const parts = query.split(separator).filter((part) => part !== '');
  for (const part of maxKeys > 0 ? parts.slice(0, maxKeys) : parts) {
    const at = part.indexOf(equals);
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + equals.length)];
    add(parsed, decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' ')));
  }
  return parsed;
}

export function stringify(
  values: unknown,
  separator = '&',
  equals = '=',
  options: { encodeURIComponent?: (text: string) => string } = {},
): string {
  if (typeof values !== 'object' || values === null) return '';
  const encode = options.encodeURIComponent ?? escapeText;
  const parts: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value])
      parts.push(`${encode(name)}${equals}${encode(isPrimitive(item) ? String(item) : '')}`);
  }
  return parts.join(separator);
}

export { escapeText as escape, parse as decode, stringify as encode, unescapeText as unescape };

function add(parsed: Record<string, string | string[]>, name: string, value: string): void {
  const present = parsed[name];
  if (present === undefined) parsed[name] = value;
  else if (Array.isArray(present)) present.push(value);
  else parsed[name] = [present, value];
}

function isPrimitive(value: unknown): value is Value {
  return (
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}
