import { hash } from 'node:crypto';
import type { Approval } from './approval-types.ts';

/** Details as a list shows them. */
export interface ShortDetails {
  readonly details: Readonly<Record<string, unknown>>;
  /** How many characters each detail has that is shown in part alone; absent when all of them are whole. */
  readonly cut?: Readonly<Record<string, number>>;
}

/** The most of one detail in a list, in characters of JSON. */
const maxShownChars = 4096;
const sizes = new WeakMap<object, number>();

/** The details with every long one cut to its beginning: a list of questions, and those that have their answer, need no more. */
export function shortenDetails(details: Approval['details']): ShortDetails {
  const cut: Array<[string, number]> = [];
  const short = Object.entries(details).map(([name, value]): [string, unknown] => {
    const json = JSON.stringify(value) ?? 'null';
    if (json.length <= maxShownChars) return [name, value];
    cut.push([name, json.length]);
    return [name, `${json.slice(0, maxShownChars)}… (${json.length} characters in all)`];
  });
  return { details: Object.fromEntries(short), ...(cut.length > 0 && { cut: Object.fromEntries(cut) }) };
}

/** SHA-256 (hex) of everything that a person is shown: whoever names it had all of it. */
export function hashShown({ id, question, argumentsHash, details }: Approval): string {
  return hash('sha256', JSON.stringify([id, question, argumentsHash, details]));
}

/** How much an open question holds in memory and in the database, in characters. */
export function sizeOfDetails(details: Approval['details']): number {
  const size = sizes.get(details) ?? JSON.stringify(details).length;
  sizes.set(details, size);
  return size;
}
