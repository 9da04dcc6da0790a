import { addAwaits } from './awaits.ts';
import { mendBrackets } from './brackets.ts';
import { replaceBuiltins } from './builtins.ts';
import { addExpectedTokens } from './expected-tokens.ts';
import type { Fixer } from './fixer.ts';
import { mendImports } from './imports.ts';
import { mendKeywords } from './keywords.ts';
import { mendManifest } from './manifest.ts';
import { mendModuleForms } from './module-forms.ts';
import { replaceOddCharacters } from './odd-characters.ts';
import { cleanPastedText } from './pasted-text.ts';
import { closeQuotes } from './quotes.ts';
import { mendSlips } from './slips.ts';
import { takeTypescriptFixes } from './typescript-fixes.ts';

/** All fixers by name, in the order in which they are asked: those that see most of a text first. */
export const fixers: Readonly<Record<string, Fixer>> = {
  'pasted-text': cleanPastedText,
  'odd-characters': replaceOddCharacters,
  quotes: closeQuotes,
  keywords: mendKeywords,
  brackets: mendBrackets,
  'expected-tokens': addExpectedTokens,
  imports: mendImports,
  builtins: replaceBuiltins,
  'module-forms': mendModuleForms,
  manifest: mendManifest,
  slips: mendSlips,
  typescript: takeTypescriptFixes,
  awaits: addAwaits,
};
