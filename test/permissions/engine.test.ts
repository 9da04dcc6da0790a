import { describe, expect, it } from 'vitest';
import { parsePermissions, parseRequestedPermissions } from '../../src/permissions/parse.ts';
import { asking, openBook } from './grant-books.ts';

const engine = { engine: ['deno'] };

describe('parsePermissions', () => {
  it.each(['quickjs', 'extism', 'hosted', 'deno ', '*', ''])('knows no engine %j to escalate to', (name) => {
    expect(parsePermissions({ engine: [name] })).toMatchObject({ ok: false, key: 'engine' });
  });
});

describe('parseRequestedPermissions', () => {
  it.each([[['deno']], [['docker']], [[]], [true], [false], [null]])('refuses a plugin that asks for engine: %j', (value) => {
    expect(parseRequestedPermissions({ net: ['a.com'], engine: value })).toMatchObject({ ok: false, key: 'engine' });
  });
});

describe('engine', () => {
  it('is not given by grantRequested', () => {
    const { book } = openBook({ grantRequested: true });
    const asked = asking({ net: ['a.com'], ...engine });
    expect(book.decide(asked)).toEqual({ granted: { net: ['a.com'] }, pending: engine });
  });

  it('is given by a preset, and by a grant that can be taken back', () => {
    const asked = asking(engine);
    expect(openBook({ presets: { weather: engine } }).book.decide(asked).pending).toEqual({});
    const { book } = openBook();
    book.create({ asking: asked, permissions: engine, scope: { scope: 'always' }, grantedBy: 'local' });
    expect(book.decide(asked)).toEqual({ granted: engine, pending: {} });
    book.revoke({ unitPath: asked.path, permissions: engine }, 'local');
    expect(book.decide(asked).pending).toEqual(engine);
  });

  it('is given to what a model wrote only for that very content', () => {
    const { book } = openBook({ presets: { weather: engine } });
    book.create({ asking: asking(engine), permissions: engine, scope: { scope: 'always' }, grantedBy: 'local' });
    const written = asking(engine, { author: 'model', contentHash: 'h2' });
    expect(book.decide(written).pending).toEqual(engine);
    book.create({ asking: written, permissions: engine, scope: { scope: 'always' }, grantedBy: 'local' });
    expect(book.decide(written).pending).toEqual({});
    expect(book.decide(asking(engine, { author: 'model', contentHash: 'h3' })).pending).toEqual(engine);
  });
});
