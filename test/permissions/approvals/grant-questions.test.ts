import { describe, expect, it, onTestFinished } from 'vitest';
import type { PermissionSet } from '../../../src/config/permission-set.ts';
import { type AskingUnit, createGrantQuestions } from '../../../src/permissions/approvals/grant-questions.ts';
import { openQuestions, operator } from '../approval-books.ts';
import { asking, openBook } from '../grant-books.ts';

const always = { scope: 'always' } as const;
const net: PermissionSet = { net: ['api.example.com'] };

function openHouse(options: Parameters<typeof openBook>[0] = {}) {
  const { book, store } = openBook(options);
  const { approvals } = openQuestions({ store });
  const house: { plugins: AskingUnit[] } = { plugins: [] };
  const questions = createGrantQuestions({
    approvals,
    grants: book,
    listUnits: () => house.plugins,
    onFault: (error) => {
      throw error;
    },
  });
  onTestFinished(() => questions.close());
  return {
    book,
    approvals,
    questions,
    /** Puts plugins in place of those there were, and lets the questions follow. */
    have(...plugins: Array<Omit<AskingUnit, 'path' | 'version'>>) {
      house.plugins = plugins.map((plugin) => ({ ...plugin, path: 'plugins/weather.ts', version: '1.0.0' }));
      questions.refresh();
      return approvals.list({ status: 'open', limit: 9 });
    },
  };
}

const waits = (permissions: PermissionSet, changes: Parameters<typeof asking>[1] = {}) => ({
  asking: asking(permissions, changes),
  state: 'pending-grant',
});

describe('createGrantQuestions', () => {
  it('asks once for what is pending, in any order, with all that is needed to judge it', () => {
    const { have, approvals } = openHouse();
    const [open, ...others] = have(waits({ net: ['a.com', 'b.com'], kv: true }));
    expect(others).toEqual([]);
    expect(open).toMatchObject({
      kind: 'grant',
      reason: 'permissions',
      plugin: 'weather',
      question: 'The plugin "weather" asks for: net=a.com net=b.com kv',
      details: { permissions: 'net=a.com net=b.com kv', contentHash: 'hash-1', author: 'operator', path: 'plugins/weather.ts' },
    });
    expect(open).not.toHaveProperty('caller');
    expect(have(waits({ kv: true, net: ['b.com', 'a.com'] }))).toEqual([open]);
    expect(approvals.count({})).toBe(1);
  });

  it('grants exactly what was shown, and is silent when nothing is pending', () => {
    const { have, questions, book, approvals } = openHouse();
    const plugin = waits(net);
    const [open] = have(plugin);
    if (open === undefined) throw new Error('nothing was asked');
    questions.require(open);
    questions.grant(approvals.answer(open.id, 'approved', operator), always, 'local');
    expect(book.decide(plugin.asking)).toEqual({ granted: net, pending: {} });
    expect(have({ ...plugin, state: 'ready' })).toEqual([]);
  });

  it('withdraws the question of a plugin that is gone, was granted elsewhere or is switched off', () => {
    const { have, book } = openHouse();
    const plugin = waits(net);
    expect(have(plugin)).toHaveLength(1);
    expect(have()).toEqual([]);
    expect(have(plugin)).toHaveLength(1);
    expect(have({ ...plugin, state: 'disabled' })).toEqual([]);
    expect(have(plugin)).toHaveLength(1);
    book.create({ asking: plugin.asking, permissions: net, scope: always, grantedBy: 'local' });
    expect(have(plugin)).toEqual([]);
  });

  it('keeps the question while the plugin is being built again', () => {
    const { have } = openHouse();
    const [open] = have(waits(net));
    expect(have({ ...waits(net), state: 'loading' })).toEqual([open]);
  });

  it('asks anew for another content or set: what was shown before can no longer be approved', () => {
    const { have, questions, approvals } = openHouse();
    const [first] = have(waits(net));
    const [second, ...others] = have(waits(net, { contentHash: 'hash-2' }));
    expect([others, approvals.get(first?.id ?? '')?.status]).toEqual([[], 'withdrawn']);
    const [third] = have(waits({ net: ['evil.com'] }, { contentHash: 'hash-2' }));
    for (const stale of [first, second]) {
      if (stale === undefined) throw new Error('nothing was asked');
      expect(() => questions.require(stale)).toThrow(expect.objectContaining({ code: 'conflict' }));
      expect(() => questions.grant(stale, always, 'local')).toThrow(expect.objectContaining({ code: 'conflict' }));
    }
    expect(third?.question).toContain('evil.com');
  });

  it('refuses an answer that comes between an edit and the next question', () => {
    const { have, questions, approvals } = openHouse();
    const [shown] = have(waits(net));
    if (shown === undefined) throw new Error('nothing was asked');
    const changed = openHouse();
    changed.have(waits({ net: ['evil.com'] }, { contentHash: 'hash-2' }));
    expect(() => changed.questions.require(shown)).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(questions.require(shown).permissions).toEqual(net);
    expect(approvals.get(shown.id)?.status).toBe('open');
  });

  it('remembers a denial for that very set, whatever the file holds, and asks when the set changes', () => {
    const { have, approvals } = openHouse();
    const [open] = have(waits(net));
    approvals.answer(open?.id ?? '', 'denied', operator);
    expect(have(waits(net))).toEqual([]);
    expect(have(waits(net, { contentHash: 'hash-2' }))).toEqual([]);
    expect(have(waits({ ...net, kv: true }, { contentHash: 'hash-3' }))).toHaveLength(1);
    expect(have(waits(net, { contentHash: 'hash-4' }))).toEqual([]);
  });

  it.each([{ scope: 'once' }, { scope: 'session', caller: 'key_1', session: 's' }] as const)(
    'does not ask again about what was granted for $scope, until it asks for something else',
    (scope) => {
      const { have, questions, approvals } = openHouse();
      const [open] = have(waits(net));
      questions.grant(approvals.answer(open?.id ?? '', 'approved', operator), scope, 'local');
      expect(have(waits(net))).toEqual([]);
      expect(have(waits({ kv: true }))).toHaveLength(1);
    },
  );

  it('asks for a build of another hand what the operator’s own build has', () => {
    const wanted: PermissionSet = { env: ['KEY'] };
    const { have, book } = openHouse();
    book.create({ asking: asking(wanted), permissions: wanted, scope: always, grantedBy: 'local' });
    const [open] = have(waits(wanted, { contentHash: 'hash-2', author: 'model' }));
    expect(open?.details).toMatchObject({ author: 'model', permissions: 'env=KEY' });
  });

  it('does not ask about more than a person can judge', () => {
    const long = Array.from({ length: 100 }, (_, at) => `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.h${at}.com`);
    expect(openHouse().have(waits({ net: long }))).toEqual([]);
  });
});
