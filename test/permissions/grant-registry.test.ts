import { describe, expect, it } from 'vitest';
import type { PermissionSet } from '../../src/config/permission-set.ts';
import { asking, openBook } from './grant-books.ts';

const always = { scope: 'always' } as const;
const net: PermissionSet = { net: ['api.example.com'] };
const use = { executionId: 'exe_1', caller: 'local', session: 's' };

describe('createGrantRegistry', () => {
  it('grants nothing by itself, and what was granted from then on, also after a restart', () => {
    const { book, store } = openBook();
    const plugin = asking(net);
    expect(book.decide(plugin)).toEqual({ granted: {}, pending: net });
    book.create({ asking: plugin, permissions: net, scope: always, grantedBy: 'local' });
    expect(book.decide(plugin)).toEqual({ granted: net, pending: {} });
    expect(openBook({ store }).book.decide(plugin)).toEqual({ granted: net, pending: {} });
  });

  it('gives the same objects until something changes', () => {
    const { book } = openBook();
    const plugin = asking({ ...net, kv: true });
    book.create({ asking: plugin, permissions: net, scope: always, grantedBy: 'local' });
    const first = book.decide(plugin, use);
    expect(book.decide(plugin, { ...use, executionId: 'exe_2' })).toBe(first);
    book.create({ asking: plugin, permissions: { kv: true }, scope: always, grantedBy: 'local' });
    expect(book.decide(plugin, use)).not.toBe(first);
    expect(book.decide(plugin, use).pending).toEqual({});
  });

  it('keeps a grant over an edit of the operator, and leaves pending what grew', () => {
    const { book } = openBook();
    book.create({ asking: asking(net), permissions: net, scope: always, grantedBy: 'local' });
    const edited = asking({ net: ['api.example.com', 'other.org'] }, { contentHash: 'hash-2' });
    expect(book.decide(edited)).toEqual({ granted: net, pending: { net: ['other.org'] } });
  });

  it('does not carry a grant to a copy or to a file that comes after a deletion', () => {
    const { book } = openBook();
    book.create({ asking: asking(net), permissions: net, scope: always, grantedBy: 'local' });
    expect(book.decide(asking(net, { path: '/plugins/copy.ts' })).granted).toEqual({});
    expect(book.decide(asking(net, { name: 'other' })).granted).toEqual(net);
    book.forget('/plugins/weather.ts');
    expect(book.decide(asking(net)).granted).toEqual({});
    expect(book.list()).toEqual([]);
  });

  it('gives neither env nor run to a build of another author until that content is approved', () => {
    const wanted: PermissionSet = { ...net, env: ['KEY'], run: ['ls'] };
    const { book } = openBook({ presets: { weather: wanted } });
    const repaired = asking(wanted, { contentHash: 'hash-2', author: 'repair' });
    book.create({ asking: asking(wanted), permissions: wanted, scope: always, grantedBy: 'local' });
    expect(book.decide(repaired).granted).toEqual(net);
    book.create({ asking: repaired, permissions: wanted, scope: always, grantedBy: 'local' });
    expect(book.decide(repaired)).toEqual({ granted: wanted, pending: {} });
    const everything = openBook({ grantRequested: true }).book;
    expect(everything.decide(repaired)).toEqual({ granted: net, pending: { env: ['KEY'], run: ['ls'] } });
    expect(everything.decide(asking(wanted)).granted).toEqual(wanted);
  });

  it('spends a grant for once on one call, also over a restart', () => {
    const { book, store } = openBook();
    const plugin = asking(net);
    book.create({ asking: plugin, permissions: net, scope: { scope: 'once' }, grantedBy: 'local' });
    expect(book.decide(plugin).granted).toEqual({});
    expect(book.decide(plugin, use).granted).toEqual(net);
    expect(book.decide(plugin, use).granted).toEqual(net);
    expect(book.decide(plugin, { ...use, executionId: 'exe_2' }).granted).toEqual({});
    expect(openBook({ store }).book.decide(plugin, use).granted).toEqual({});
  });

  it('leaves a grant for once to its own file, whatever another one is called', () => {
    const { book } = openBook();
    book.create({ asking: asking(net), permissions: net, scope: { scope: 'once' }, grantedBy: 'local' });
    expect(book.decide(asking(net, { path: '/plugins/copy.ts' }), use).granted).toEqual({});
    expect(book.decide(asking(net), { ...use, executionId: 'exe_2' }).granted).toEqual(net);
  });

  it('holds a grant for a session in that session of that caller alone', () => {
    const { book } = openBook();
    const plugin = asking(net);
    const scope = { scope: 'session', caller: 'local', session: 's' } as const;
    book.create({ asking: plugin, permissions: net, scope, grantedBy: 'local' });
    expect(book.decide(plugin, use).granted).toEqual(net);
    expect(book.decide(plugin, { ...use, session: 't' }).granted).toEqual({});
    expect(book.decide(plugin, { ...use, caller: 'key_1' }).granted).toEqual({});
  });

  it('ends a grant at its time', () => {
    const { book, clock } = openBook();
    const plugin = asking(net);
    book.create({ asking: plugin, permissions: net, scope: { scope: 'until', untilMs: 2_000_000 }, grantedBy: 'local' });
    expect(book.decide(plugin).granted).toEqual(net);
    clock.ms = 2_000_000;
    expect(book.decide(plugin).granted).toEqual({});
  });

  it('takes back all, or what allows the named thing, and tells about it', () => {
    const { book, told } = openBook();
    const plugin = asking({ ...net, kv: true });
    const permissions: PermissionSet = { net: ['*.example.com', 'other.org'], kv: true };
    book.create({ asking: plugin, permissions, scope: always, grantedBy: 'local' });
    const { path: unitPath } = plugin;
    expect(book.revoke({ unitPath, permissions: net }, 'key_1')).toHaveLength(1);
    expect(book.decide(plugin).granted).toEqual({ net: ['other.org'], kv: true });
    expect(book.revoke({ unitPath, permissions: { read: ['x'] } }, 'key_1')).toEqual([]);
    expect(book.revoke({ unitPath }, 'key_1')).toHaveLength(1);
    expect(book.decide(plugin).granted).toEqual({});
    expect(told.map(({ action, by }) => `${action} ${by}`)).toEqual([
      'granted local',
      'revoked key_1',
      'granted key_1',
      'revoked key_1',
    ]);
    expect(book.listAll(10).map(({ revokedAtMs }) => revokedAtMs)).toEqual([1_000_000, 1_000_000]);
  });

  it('gives what the config grants to the file, whatever it calls itself', () => {
    const { book } = openBook({ presets: { weather: net } });
    expect(book.decide(asking(net, { path: '/plugins/constructor.ts' })).granted).toEqual({});
    expect(book.decide(asking(net, { path: '/plugins/horoscope.ts', name: 'weather' })).granted).toEqual({});
    expect(book.decide(asking(net, { name: 'other' })).granted).toEqual(net);
    expect(book.decide(asking(net)).granted).toEqual(net);
  });
});
