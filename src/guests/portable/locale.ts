/** What `toLocaleString` and its kin can be without the data of Intl; everything else is refused by name. */
import { refuseInModule } from './refusal.ts';

/** Answers `intl.value`: letters by their case, numbers as in English without options, texts by a plain collation. */
export function formatValue(payload: string): string {
  const { kind, method, value, other, locales, options } = JSON.parse(payload);
  const isPlain = options === undefined && (locales === undefined || /^en(?:-US)?$/.test(locales.join()));
  if (method === 'toLocaleUpperCase' && isPlain) return answer(value.toUpperCase());
  if (method === 'toLocaleLowerCase' && isPlain) return answer(value.toLowerCase());
  if (method === 'localeCompare' && isPlain) return answer(compareTexts(value, other));
  if (kind === 'number' && isPlain && Number.isFinite(Number(value))) return answer(groupNumber(Number(value)));
  if (kind === 'bigint' && isPlain) return answer(groupDigits(value));
  throw refuseInModule('intl.value');
}

function answer(value: unknown): string {
  return JSON.stringify({ value });
}

function groupNumber(value: number): string {
  if (Math.abs(value) >= 1e21) throw refuseInModule('intl.value');
  const [whole = '', fraction = ''] = value.toFixed(3).split('.');
  const kept = fraction.replace(/0+$/, '');
  return kept === '' ? groupDigits(whole) : `${groupDigits(whole)}.${kept}`;
}

function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Letters without their marks and case first, then marks, then lower case before upper. */
function compareTexts(left: string, right: string): number {
  const [a, b] = [left.normalize('NFD'), right.normalize('NFD')];
  return (
    compareBy(a, b, (text) => text.replace(/\p{M}/gu, '').toLowerCase()) ||
    compareBy(a, b, (text) => text.toLowerCase()) ||
    compareBy(b, a, (text) => text)
  );
}

/** Marks and signs come before digits, digits before letters. */
function compareBy(left: string, right: string, key: (text: string) => string): number {
  const [a, b] = [key(left), key(right)].map((text) => Array.from(text, (one) => rank(one) + one).join(''));
  return a === b || a === undefined || b === undefined ? 0 : a < b ? -1 : 1;
}

function rank(character: string): string {
  return /\p{L}|\p{M}/u.test(character) ? '3' : /\p{N}/u.test(character) ? '2' : /\s/.test(character) ? '0' : '1';
}
