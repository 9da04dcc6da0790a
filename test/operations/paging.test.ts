import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPage } from '../../src/operations/contracts/paging.ts';

describe('cutPage', () => {
  it('gives every item exactly once over all pages', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (keys, limit) => {
        const items = keys.sort((a, b) => (a < b ? -1 : 1));
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = cutPage(items, { limit, ...(cursor === undefined ? {} : { cursor }) }, (item) => item);
          expect([page.items.length <= limit, page.total]).toEqual([true, items.length]);
          seen.push(...page.items);
          cursor = page.next;
        } while (cursor !== undefined);
        expect(seen).toEqual(items);
      }),
    );
  });

  it('goes on after a key that has gone since', () => {
    expect(cutPage(['a', 'c'], { cursor: 'b' }, (item) => item)).toEqual({ items: ['c'], total: 2 });
  });
});
