import { stripVTControlCharacters } from 'node:util';

/** Characters of a question, at most. */
export const maxQuestionChars = 2000;

/** What shows nothing but changes how the rest reads: zero widths, joiners, overrides of direction, tags, private use. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}]/gu;
/** Blanks of every kind, and control characters, which stand where a blank would. */
const blanks = /[\s\p{Cc}]+/gu;
/** More marks on one letter than any script writes would reach over the lines around it. */
const piledMarks = /(\p{M}{4})\p{M}+/gu;

/**
 * Text of a plugin, a model or a caller as one paragraph that a person can be shown: no control characters, no terminal
 * sequences, nothing that hides or turns around what it says, at most `maxChars` characters.
 */
export function cleanUntrustedText(text: string, maxChars: number = maxQuestionChars): string {
  // Bounded first, so that the rest costs the same for a text of any length.
  const bounded = text.slice(0, maxChars * 4);
  const clean = stripVTControlCharacters(bounded.toWellFormed())
    .replace(unseen, '')
    .replace(piledMarks, '$1')
    .replace(blanks, ' ')
    .trim();
  const characters = Array.from(clean);
  const isWhole = characters.length <= maxChars && bounded.length === text.length;
  return isWhole ? clean : `${characters.slice(0, maxChars - 1).join('')}…`;
}

/** A value as JSON in which everything unseen is written as an escape: a person judges what is there. */
export function describeUntrustedValue(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'undefined';
  return text
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u007f-\u009f\u2800]|(?! )\p{Zs}/gu, escapeCharacter)
    .replace(piledMarks, (pile) => pile.replace(/\p{M}/gu, escapeCharacter));
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}
