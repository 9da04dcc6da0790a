import { describe, expect, it } from 'vitest';
import { createAuditTrail } from '../../../../src/callers/audit-trail.ts';
import type { Caller } from '../../../../src/callers/caller.ts';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { createAuditOperations } from '../../../../src/operations/handlers/access/audit.ts';
import { prepareOperations } from '../../../../src/operations/invoke.ts';
import { temporaryStore } from '../../../store/temporary-store.ts';

const admin: Caller = { id: 'local', role: 'admin' };
const ann: Caller = { id: 'ann', role: 'caller' };

function open(keep = 1000) {
  const store = temporaryStore();
  const clock = { ms: 1_000_000 };
  const events = createEventLog({ store, now: () => clock.ms });
  const trail = createAuditTrail({ store, events, keep, now: () => clock.ms });
  const operation = prepareOperations(createAuditOperations({ store })).get('audit.list');
  const list = (input: object = {}, caller = admin): ReturnType<typeof JSON.parse> =>
    JSON.parse(JSON.stringify(operation?.invoke(input, { caller, signal: new AbortController().signal })));
  const use = { executionId: 'e1', caller: 'ann', plugin: 'notes', tool: 'note', permission: 'kv', detail: 'own', allowed: true };
  return { trail, list, use, events, clock, store };
}

describe('createAuditTrail', () => {
  it('keeps uses and refusals, newest first', () => {
    const { trail, list, use } = open();
    trail.note(use);
    trail.note({ ...use, permission: 'net', detail: 'evil.example:443', allowed: false });
    expect(list()).toMatchObject({
      total: 2,
      items: [
        { permission: 'net', allowed: false },
        { permission: 'kv', execution: 'e1' },
      ],
    });
  });

  it('writes down who decided about grants, approvals and secrets', () => {
    const { list, events } = open();
    const grant = { grant: 'g1', permissions: 'net=a.example', scope: 'always', by: 'local' };
    events.publish('grant-change', { subject: 'notes', data: { action: 'granted', ...grant } });
    events.publish('grant-change', { subject: 'notes', data: { action: 'revoked', ...grant } });
    events.publish('secret-change', {
      subject: 'API_KEY',
      data: { action: 'set', binding: 'header x of a.example', by: 'local' },
    });
    expect(list().items).toMatchObject([
      { permission: 'secret', caller: 'local', allowed: true },
      { permission: 'grant', plugin: 'notes', allowed: false, detail: 'revoked net=a.example (always)' },
      { permission: 'grant', plugin: 'notes', allowed: true },
    ]);
  });

  it('notes what is given without asking once a minute for each caller and name', () => {
    const { trail, list, use, clock } = open();
    const env = { ...use, permission: 'env', detail: 'HOME' };
    for (let n = 0; n < 10; n++) trail.noteGiven(env);
    trail.noteGiven({ ...env, caller: 'bob' });
    trail.noteGiven({ ...env, detail: 'PATH' });
    expect(list().total).toBe(3);
    clock.ms += 60_000;
    trail.noteGiven(env);
    expect(list().total).toBe(4);
  });

  it('keeps no more than the newest', () => {
    const { trail, list, use } = open(100);
    for (let n = 0; n < 2500; n++) trail.note({ ...use, detail: String(n) });
    const { total, items } = list({ limit: 1 });
    expect(total).toBeLessThanOrEqual(1100);
    expect(items[0].detail).toBe('2499');
  });

  it('keeps decisions, however many uses came since, and no more than the newest of them', () => {
    const { trail, list, use, events } = open(100);
    const decide = (name: string) =>
      events.publish('secret-change', { subject: name, data: { action: 'set', binding: 'header x of a.example', by: 'local' } });
    decide('FIRST');
    for (let n = 0; n < 2500; n++) trail.note({ ...use, detail: String(n) });
    expect(list({ caller: 'local' })).toMatchObject({ total: 1, items: [{ permission: 'secret' }] });
    for (let n = 0; n < 2500; n++) decide(`NAME_${n}`);
    expect(list({ caller: 'local' }).total).toBeLessThanOrEqual(1100);
    expect(list({ caller: 'local' }).items[0].detail).toContain('NAME_2499');
  });

  it('bounds what a guest made up', () => {
    const { trail, list, use } = open();
    trail.note({ ...use, detail: 'x'.repeat(100_000) });
    expect(list().items[0].detail).toHaveLength(500);
  });
});

describe('audit.list', () => {
  it('shows a caller its own, whatever it asks for', () => {
    const { trail, list, use } = open();
    trail.note(use);
    trail.note({ ...use, caller: 'bob' });
    expect(list({}, ann)).toMatchObject({ total: 1, items: [{ caller: 'ann' }] });
    expect(list({ caller: 'bob' }, ann)).toMatchObject({ total: 1, items: [{ caller: 'ann' }] });
    expect(list({ caller: 'bob' })).toMatchObject({ total: 1, items: [{ caller: 'bob' }] });
  });

  it('is narrowed by plugin, tool, execution and outcome', () => {
    const { trail, list, use } = open();
    trail.note(use);
    trail.note({ ...use, plugin: 'other', tool: 'thing', executionId: 'e2', allowed: false });
    for (const query of [{ plugin: 'other' }, { tool: 'thing' }, { execution: 'e2' }, { allowed: false }]) {
      expect(list(query)).toMatchObject({ total: 1, items: [{ plugin: 'other' }] });
    }
  });

  it('comes in pages without a gap', () => {
    const { trail, list, use } = open();
    for (let n = 0; n < 25; n++) trail.note({ ...use, detail: String(n) });
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = list({ limit: 10, ...(cursor === '' ? {} : { cursor }) });
      seen.push(...page.items.map((item: { detail: string }) => item.detail));
      cursor = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => String(24 - n)));
    expect(() => list({ cursor: 'zzz' })).toThrow('none that a page before gave out');
  });
});
