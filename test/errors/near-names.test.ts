import { describe, expect, it } from 'vitest';
import { findNearNames, suggestNearNames } from '../../src/errors/near-names.ts';

describe('findNearNames', () => {
  it('finds a missing, an extra, a wrong letter and two swapped ones', () => {
    const candidates = ['weather', 'word-count', 'convert'];
    for (const wrong of ['weathr', 'weatther', 'weathxr', 'waether', 'WEATHER']) {
      expect(findNearNames(wrong, candidates)).toEqual(['weather']);
    }
  });

  it('puts the nearest first and keeps to the maximum', () => {
    expect(findNearNames('cat', ['cart', 'cats', 'car', 'cat'], 2)).toEqual(['cat', 'car']);
  });

  it('takes a beginning for near', () => {
    expect(findNearNames('word', ['word-count-of-text', 'other'])).toEqual(['word-count-of-text']);
  });

  it('offers nothing when nothing is near', () => {
    expect(findNearNames('weather', ['convert', 'x', ''])).toEqual([]);
    expect(findNearNames('', ['convert'])).toEqual([]);
  });

  it('answers for names of a megabyte', () => {
    const long = 'a'.repeat(1_000_000);
    expect(findNearNames(long, [long, 'b'])).toEqual([long]);
  });
});

describe('suggestNearNames', () => {
  it('writes one sentence, or nothing', () => {
    expect(suggestNearNames('hots', ['host', 'port'])).toBe(' Did you mean "host"?');
    expect(suggestNearNames('cat', ['cats', 'car'])).toBe(' Did you mean "car" or "cats"?');
    expect(suggestNearNames('zebra', ['host'])).toBe('');
  });
});
