import { describe, expect, it } from 'vitest';
import { createNameRegistry } from '../../src/names/name-registry.ts';
import { findToolOwners } from '../../src/names/tool-owners.ts';
import { temporaryStore } from '../store/temporary-store.ts';

describe('findToolOwners', () => {
  it('binds names of units that are there and of the daemon, and leaves those of a file that is gone to whoever comes', () => {
    const there = new Set(['bank', 'echo']);
    const book = createNameRegistry({
      table: temporaryStore().names,
      reserved: { eval_code: 'builtin:eval_code' },
      isThere: (path) => there.has(path),
      onFault: (error) => {
        throw error;
      },
    });
    book.claim('bank', { name: 'bank', tools: ['pay'], version: '1.0.0' });
    book.claim('echo', { name: 'echo', tools: ['echo'], version: '1.0.0' });
    // The built-in is switched off: nothing of it is there.
    const named = ['pay', 'echo', 'eval_code', 'nobody_has', 'e*'];
    const builtin = { eval_code: 'builtin:eval_code' };
    expect(findToolOwners(named, book)).toEqual({ pay: 'bank', echo: 'echo', ...builtin });
    there.delete('bank');
    expect(findToolOwners(named, book)).toEqual({ echo: 'echo', ...builtin });
  });
});
