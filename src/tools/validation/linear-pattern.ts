import { RE2JS } from 're2js';
import type { Fuel } from './fuel.ts';

/** A pattern that can be tested in time linear in the text, and said as text (ajv tells patterns apart by it). */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

const maxPatternLength = 1000;
const maxProgramSize = 5000;
const keptPatterns = 500;

const programs = new Map<string, RE2JS>();

/**
 * Compiles a JSON Schema pattern with RE2 semantics: no backtracking, hence no lookahead, lookbehind or back-reference.
 * Throws with the reason when the pattern needs those or is too large.
 */
export function compileLinearPattern(pattern: string): RE2JS {
  const known = programs.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > maxPatternLength) throw new Error(`it is longer than ${maxPatternLength} characters`);
  const program = RE2JS.compile(RE2JS.translateRegExp(pattern));
  if (program.programSize() > maxProgramSize) throw new Error('its repetitions make it too large');
  if (programs.size >= keptPatterns) programs.clear();
  programs.set(pattern, program);
  return program;
}

/** The pattern for ajv: a test burns fuel for the length of the text and the size of the pattern. */
export function createFuelledPattern(pattern: string, fuel: Fuel): LinearPattern {
  const program = compileLinearPattern(pattern);
  // A test that falls off the automaton's fast path visits every state for every character.
  const unitsPerCharacter = 1 + program.programSize() / 64;
  return {
    test(text) {
      fuel.burn(16 + text.length * unitsPerCharacter);
      return program.test(text);
    },
    toString: () => `/${pattern}/re2`,
  };
}
