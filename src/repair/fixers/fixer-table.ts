import { awaits } from './awaits.ts';
import { brackets } from './brackets.ts';
import { builtins } from './builtins.ts';
import { expectedTokens } from './expected-tokens.ts';
import type { Fixer } from './fixer.ts';
import { imports } from './imports.ts';
import { keywordSlips } from './keywords.ts';
import { manifestWords } from './manifest.ts';
import { moduleForms } from './module-forms.ts';
import { oddCharacters } from './odd-characters.ts';
import { pastedText } from './pasted-text.ts';
import { quotes } from './quotes.ts';
import { slips } from './slips.ts';
import { typescriptFixes } from './typescript-fixes.ts';

/** All fixers, in the order in which they are asked: those that see most of a text first. */
export const fixers: readonly Fixer[] = [
  pastedText,
  oddCharacters,
  quotes,
  keywordSlips,
  brackets,
  expectedTokens,
  imports,
  builtins,
  moduleForms,
  manifestWords,
  slips,
  typescriptFixes,
  awaits,
];
