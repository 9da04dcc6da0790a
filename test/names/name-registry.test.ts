import { describe, expect, it } from 'vitest';
import { createNameRegistry, type NameChange, type NameRegistryParts } from '../../src/names/name-registry.ts';
import { temporaryStore } from '../store/temporary-store.ts';

const wanted = (name: string, tools: readonly string[] = [name], version = '1.0.0') => ({ name, tools, version });

/** A book over a real table, with files that come and go. */
function openBook(options: Partial<NameRegistryParts> & { store?: ReturnType<typeof temporaryStore> } = {}) {
  const { store = temporaryStore(), ...more } = options;
  const gone = new Set<string>();
  const changes: NameChange[] = [];
  const book = createNameRegistry({
    table: store.names,
    isThere: (path) => !gone.has(path),
    onChange: (change) => changes.push(change),
    onFault: (error) => {
      throw error;
    },
    ...more,
  });
  const add = (path: string, names: ReturnType<typeof wanted>) => {
    book.arrive(path, [`plugins/${path}`, `${path}.ts`, path]);
    const taken = book.findTaken(path, names);
    if (taken === undefined) book.claim(path, names);
    book.settle(path);
    return taken;
  };
  return { book, store, gone, changes, add };
}

describe('createNameRegistry', () => {
  it('gives a name to whoever had it first, and remembers that', () => {
    const { add, store, book } = openBook();
    expect(add('weather', wanted('weather'))).toBeUndefined();
    expect(add('horoscope', wanted('weather'))).toEqual({ name: 'weather', owner: 'weather' });
    expect(add('cute', wanted('cute', ['weather'], '9.0.0'))).toBeUndefined();
    expect(book.ownerOf('weather')).toBe('weather');
    const again = openBook({ store });
    expect(again.add('cute', wanted('cute', ['weather'], '9.0.0'))).toBeUndefined();
    expect(again.add('horoscope', wanted('weather'))).toEqual({ name: 'weather', owner: 'weather' });
    expect(again.book.ownerOf('weather')).toBe('weather');
  });

  it('lets the first path win where both are new, and displaces the other', () => {
    const { book } = openBook();
    for (const path of ['a', 'b']) book.arrive(path, [path]);
    book.claim('b', wanted('same'));
    book.settle('b');
    expect(book.findTaken('a', wanted('same'))).toBeUndefined();
    expect(book.claim('a', wanted('same'))).toEqual(['b']);
    book.settle('a');
    expect(book.ownerOf('same')).toBe('a');
    book.arrive('0', ['0']);
    expect(book.findTaken('0', wanted('same'))).toEqual({ name: 'same', owner: 'a' });
  });

  it('takes nothing from who got a name in quiet times', () => {
    const { add, book } = openBook();
    add('b', wanted('b'));
    book.claim('b', wanted('same'));
    expect(add('a', wanted('same'))).toEqual({ name: 'same', owner: 'b' });
  });

  it('lets names of files go before names that others give themselves', () => {
    const { book } = openBook();
    for (const path of ['a', 'weather']) book.arrive(path, [path]);
    expect(book.findTaken('a', wanted('weather'))).toEqual({ name: 'weather', owner: 'weather' });
  });

  it('passes a name of a file that is gone to the next that asks, and never to who came second', () => {
    const { add, gone, book, changes } = openBook();
    add('bank', wanted('bank', ['pay']));
    add('cute', wanted('cute', ['pay'], '9.0.0'));
    gone.add('bank');
    add('cute', wanted('cute', ['pay'], '10.0.0'));
    expect(book.ownerOf('pay')).toBe('bank');
    add('vault', wanted('vault', ['pay'], '2.0.0'));
    expect(book.ownerOf('pay')).toBe('vault');
    expect(changes).toEqual([{ name: 'pay', from: 'bank', to: 'vault', by: 'daemon' }]);
    gone.delete('bank');
    add('bank', wanted('bank', ['pay'], '3.0.0'));
    expect(book.ownerOf('pay')).toBe('vault');
  });

  it('gives up what a unit does not use any more', () => {
    const { add, book } = openBook();
    add('bank', wanted('bank', ['pay', 'refund']));
    add('bank', wanted('bank', ['refund']));
    expect([book.ownerOf('pay'), book.ownerOf('refund')]).toEqual([undefined, 'bank']);
    add('cute', wanted('cute', ['pay']));
    add('bank', wanted('bank', ['pay', 'refund']));
    expect(book.ownerOf('pay')).toBe('cute');
  });

  it('keeps names of built-ins, whatever is assigned', () => {
    const reserved = { eval_code: 'builtin:eval_code' };
    const { add, book } = openBook({ reserved, assigned: { eval_code: 'cute' } });
    expect(add('evil', wanted('eval_code'))).toEqual({ name: 'eval_code', owner: 'builtin:eval_code' });
    expect(add('cute', wanted('cute', ['eval_code'], '9.0.0'))).toBeUndefined();
    expect(book.ownerOf('eval_code')).toBe('builtin:eval_code');
  });

  it('finds settings by the file, the most exact key first, and for nobody where two files came at once', () => {
    const { add, book } = openBook();
    add('weather', wanted('weather'));
    expect(book.findSetting('weather', { weather: 1, 'weather.ts': 2, 'plugins/weather': 3 })).toBe(3);
    expect(book.findSetting('weather', { weather: 1, 'weather.ts': 2 })).toBe(2);
    expect(book.findSetting('weather', { constructor: 1 })).toBeUndefined();
    book.arrive('other', ['more/weather.ts', 'weather']);
    expect(book.findSetting('other', { weather: 1, 'more/weather.ts': 2 })).toBe(2);
    expect(book.findSetting('other', { weather: 1 })).toBeUndefined();
    for (const path of ['x/one', 'y/one']) book.arrive(path, [path, 'one']);
    for (const path of ['x/one', 'y/one']) expect(book.findSetting(path, { one: 1 })).toBeUndefined();
  });

  it('gives a tool to whom an operator names, and leaves the other its versions', () => {
    const { add, book, changes, store } = openBook();
    add('bank', wanted('bank', ['pay']));
    add('cute', wanted('cute', ['pay'], '9.0.0'));
    book.assign('pay', 'cute', 'local');
    expect(changes).toEqual([{ name: 'pay', from: 'bank', to: 'cute', by: 'local' }]);
    const again = openBook({ store });
    again.add('bank', wanted('bank', ['pay']));
    expect([again.book.ownerOf('pay'), again.book.ownerOf('pay@1.0.0')]).toEqual(['cute', 'bank']);
  });
});
