import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/capabilities/llm/token-estimate.ts';

describe('estimateTokens', () => {
  // What cl100k_base counts for these.
  it.each([
    ['', 0],
    ['The quick brown fox jumps over the lazy dog.', 10],
    ['const sum = (a, b) => a + b;', 12],
    ['3.14159265358979', 9],
    ['東京は日本の首都です', 11],
    ['😀😀😀', 6],
  ])('is not below what a tokenizer counts for %j', (text, tokens) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(tokens);
    expect(estimateTokens(text)).toBeLessThanOrEqual(tokens * 3);
  });
});
