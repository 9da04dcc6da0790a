import { describe, expect, it } from 'vitest';
import { quotas } from '../../../src/config/quotas.ts';
import { hashShown, shortenDetails } from '../../../src/permissions/approvals/approval-rows.ts';
import type { ApprovalRequest } from '../../../src/permissions/approvals/approval-types.ts';
import type { ApprovalParts } from '../../../src/permissions/approvals/approvals.ts';
import { ann, openQuestions, operator, question } from '../approval-books.ts';

const never = new AbortController().signal;

describe('ask', () => {
  it('opens a question once, and finds it again with its answer, also after a restart', () => {
    const { approvals, store } = openQuestions();
    const asked = approvals.ask(question());
    expect(asked).toMatchObject({ ...question(), status: 'open', createdAtMs: 1_000_000, expiresAtMs: 1_060_000 });
    expect(approvals.ask(question())).toEqual(asked);
    const restarted = openQuestions({ store });
    expect(restarted.approvals.ask(question())).toEqual(asked);
    expect([...restarted.approvals.waitingExecutions()]).toEqual(['exe_1']);
    const answered = restarted.approvals.answer(asked.id, 'denied', operator);
    expect(answered).toMatchObject({ status: 'denied', answeredBy: 'local', answeredAtMs: 1_000_000 });
    const again = openQuestions({ store }).approvals;
    expect(again.ask(question())).toEqual(answered);
    expect([...again.waitingExecutions()]).toEqual([]);
  });

  it('does not take an answer for other arguments', () => {
    const { approvals } = openQuestions();
    const first = approvals.ask(question());
    const other = question({ argumentsHash: 'b'.repeat(64) });
    const second = approvals.ask(other);
    expect([approvals.get(first.id)?.status, second.status]).toEqual(['withdrawn', 'open']);
    approvals.answer(second.id, 'approved', operator);
    expect(() => approvals.ask(question())).toThrow(expect.objectContaining({ code: 'conflict' }));
  });

  it('asks for permissions again that were granted or not answered, not those that were denied', () => {
    const { approvals, clock } = openQuestions();
    const grant = question({ kind: 'grant', reason: 'permissions', askKey: 'grant:1' });
    const first = approvals.ask(grant);
    approvals.answer(first.id, 'approved', operator);
    const second = approvals.ask(grant);
    clock.ms += 60_000;
    expect(() => approvals.answer(second.id, 'approved', operator)).toThrow(expect.objectContaining({ code: 'conflict' }));
    const third = approvals.ask(grant);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    approvals.answer(third.id, 'denied', operator);
    expect(approvals.ask(grant)).toMatchObject({ id: third.id, status: 'denied' });
    expect(approvals.ask({ ...grant, argumentsHash: 'c'.repeat(64) })).toMatchObject({ id: third.id, status: 'denied' });
  });

  it('is bounded for one caller and for all, and grants keep their own room', () => {
    const { approvals } = openQuestions({ limits: { maxOpen: 3, maxOpenPerCaller: 2 } });
    const ask = (askKey: string, caller: string) => approvals.ask(question({ askKey, caller }));
    ask('1', 'key_ann');
    ask('2', 'key_ann');
    expect(() => ask('3', 'key_ann')).toThrow(expect.objectContaining({ code: 'queue-full' }));
    const last = ask('4', 'key_bob');
    expect(() => ask('5', 'key_bob')).toThrow(expect.objectContaining({ code: 'queue-full' }));
    const { caller: _nobody, ...grant } = question({ askKey: 'g', kind: 'grant', reason: 'permissions' });
    expect(approvals.ask(grant).status).toBe('open');
    approvals.answer(last.id, 'denied', operator);
    expect(ask('5', 'key_bob').status).toBe('open');
  });

  it('keeps room for admins, leaves some to other plugins, and counts callers without a token as one', () => {
    const { approvals } = openQuestions({ limits: { maxOpen: 40, maxOpenPerCaller: 30 } });
    let asked = 0;
    const ask = (caller: string, facts: Partial<ApprovalRequest> = {}) =>
      approvals.ask(question({ askKey: `q${asked++}`, caller, ...facts }));
    for (let n = 0; n < 30; n++) ask(`anonymous:${n}`);
    const ofCaller = '30 questions that this caller caused wait for a person already, which is the limit.';
    expect(() => ask('anonymous:30')).toThrow(expect.objectContaining({ code: 'queue-full', message: ofCaller }));
    for (let n = 0; n < 8; n++) ask('key_ann');
    const ofPlugin = '38 questions that calls of this plugin caused wait for a person already, which is the limit.';
    expect(() => ask('key_ann')).toThrow(expect.objectContaining({ code: 'queue-full', message: ofPlugin }));
    for (let n = 0; n < 2; n++) ask('key_ann', { unitPath: 'other.ts' });
    expect(() => ask('key_ann', { unitPath: 'third.ts' })).toThrow(expect.objectContaining({ code: 'queue-full' }));
    const admins = { isAdmin: true, unitPath: 'third.ts' };
    for (let n = 0; n < 4; n++) expect(ask('local', admins).status).toBe('open');
    expect(() => ask('local', admins)).toThrow(expect.objectContaining({ code: 'queue-full' }));
  });

  it('shows a hostile text as one harmless paragraph, and keeps no long detail beyond its answer', () => {
    const { approvals, told, store } = openQuestions();
    const text = `ok?\u001b[2J\u001b]8;;http://x\u0007 \u202eevil\u202c\r\n\nApproved by operator\u0000${'a'.repeat(1_000_000)}`;
    const asked = approvals.ask(question({ question: text, details: { arguments: 'x'.repeat(1_000_000) } }));
    expect(asked.question).toMatch(/^ok\? evil Approved by operator a+…$/);
    expect(asked.question).toHaveLength(2000);
    expect(asked.details).toEqual({ arguments: 'x'.repeat(1_000_000) });
    expect(told).toEqual([expect.objectContaining({ type: 'approval-request', caller: 'key_ann' })]);
    expect(JSON.stringify(told).length).toBeLessThan(3000);
    approvals.answer(asked.id, 'denied', operator);
    expect(store.approvals.get(asked.id)?.detailsJson.length).toBeLessThan(5000);
    expect(approvals.get(asked.id)?.details).toEqual({ arguments: expect.stringContaining('1000002 characters in all') });
  });

  it('is approved unread by nobody: what lists cut needs the hash of all of it', () => {
    const { approvals } = openQuestions();
    const payload = `${' '.repeat(5000)}rm -rf /`;
    const [long, other] = ['1', '2'].map((askKey) =>
      approvals.ask(question({ askKey, details: { arguments: { code: payload } } })),
    );
    if (long === undefined || other === undefined) throw new Error('nothing was asked');
    expect(JSON.stringify(shortenDetails(long.details))).not.toContain('rm -rf');
    expect(shortenDetails(long.details).cut).toEqual({ arguments: 5019 });
    expect(() => approvals.answer(long.id, 'approved', operator)).toThrow(
      expect.objectContaining({ code: 'body-invalid', fix: expect.stringContaining(`hotcell approve ${long.id}`) }),
    );
    expect(() => approvals.answer(long.id, 'approved', operator, { shown: hashShown(other) })).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
    expect(() => approvals.answer(long.id, 'approved', operator, { shown: long.argumentsHash })).toThrow();
    expect(approvals.answer(long.id, 'approved', operator, { shown: hashShown(long) }).status).toBe('approved');
    expect(approvals.answer(other.id, 'denied', operator).status).toBe('denied');
  });

  it('holds no more than its share of what open questions show', () => {
    const { approvals } = openQuestions();
    const { perCaller, inAll } = quotas['approvals.details'];
    const ask = (askKey: string, caller: string) =>
      approvals.ask(question({ askKey, caller, details: { arguments: 'x'.repeat(perCaller - 100) } }));
    const first = ask('a', 'key_a');
    expect(() => ask('b', 'key_a')).toThrow(expect.objectContaining({ code: 'queue-full' }));
    for (let index = 1; index < Math.floor(inAll / perCaller); index++) ask(`c${index}`, `key_c${index}`);
    expect(() => ask('d', 'key_d')).toThrow(expect.objectContaining({ code: 'queue-full' }));
    approvals.answer(first.id, 'denied', operator);
    expect(ask('d', 'key_d').status).toBe('open');
  });
});

describe('a secret', () => {
  it('keeps what a form was answered with until its call is over, and no secret of it', () => {
    const redact: ApprovalParts['redact'] = (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[secret KEY]'));
    const { approvals, store } = openQuestions({ redact });
    const schema = { type: 'object', properties: { word: { type: 'string' } } };
    const { id } = approvals.ask(question({ kind: 'ask', reason: 'ask', details: { message: 'Word?', schema } }));
    const answered = approvals.answer(id, 'approved', operator, { content: { word: 'is hunter2' } });
    expect(answered.content).toEqual({ word: 'is [secret KEY]' });
    expect(store.approvals.get(id)?.contentJson).toBe('{"word":"is [secret KEY]"}');
    approvals.withdrawOf('exe_1');
    expect(store.approvals.get(id)?.contentJson).toBeNull();
    expect(approvals.get(id)).toMatchObject({ status: 'approved' });
  });

  it('is in no question, no details and no event', () => {
    const redact: ApprovalParts['redact'] = (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[secret KEY]'));
    const { approvals, told } = openQuestions({ redact });
    const asked = approvals.ask(question({ question: 'Use hunter2?', details: { arguments: { key: 'hunter2' } } }));
    expect(asked).toMatchObject({ question: 'Use [secret KEY]?', details: { arguments: { key: '[secret KEY]' } } });
    expect(JSON.stringify([asked, told, approvals.list({ limit: 9 })])).not.toContain('hunter2');
  });
});

describe('answer', () => {
  it('counts once: the second answerer is refused, whoever it is', () => {
    const { approvals, told } = openQuestions();
    const { id } = approvals.ask(question());
    expect(approvals.answer(id, 'approved', ann).answeredBy).toBe('key_ann');
    for (const by of [operator, ann]) {
      expect(() => approvals.answer(id, 'denied', by)).toThrow(expect.objectContaining({ code: 'conflict', status: 409 }));
    }
    expect(approvals.get(id)).toMatchObject({ status: 'approved', answeredBy: 'key_ann' });
    expect(told.map(({ data }) => data)).toEqual([
      expect.objectContaining({ approval: id, kind: 'confirm', question: 'Send it?', tool: 'mail', execution: 'exe_1' }),
      { approval: id, kind: 'confirm', status: 'approved', by: 'key_ann', tool: 'mail', execution: 'exe_1' },
    ]);
  });

  it('counts once also between two daemons’ lives', () => {
    const { approvals, store } = openQuestions();
    const { id } = approvals.ask(question());
    const other = openQuestions({ store }).approvals;
    other.answer(id, 'denied', operator);
    expect(() => approvals.answer(id, 'approved', operator)).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(approvals.get(id)?.status).toBe('denied');
  });

  it('knows no forged id and no question of another caller, and tells them apart by nothing', () => {
    const { approvals } = openQuestions();
    const { id } = approvals.ask(question());
    const bob = { ...ann, id: 'key_bob' };
    for (const forged of [`${id}0`, id.toUpperCase(), '', "' or 1=1 --", 'apr_', '__proto__', '\u0000']) {
      expect(() => approvals.answer(forged, 'approved', operator)).toThrow(expect.objectContaining({ code: 'approval-unknown' }));
    }
    expect(() => approvals.answer(id, 'approved', bob)).toThrow(expect.objectContaining({ code: 'approval-unknown' }));
    expect(approvals.get(id)?.status).toBe('open');
  });

  it('refuses the key that caused the question, and the operator’s token unless a person is there', () => {
    const { approvals } = openQuestions();
    const first = approvals.ask(question());
    expect(() => approvals.answer(first.id, 'approved', { ...ann, mayAnswer: false })).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
    const own = approvals.ask(question({ askKey: 'own', caller: 'local' }));
    expect(() => approvals.answer(own.id, 'approved', operator)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(approvals.answer(own.id, 'approved', { ...operator, isPerson: true }).status).toBe('approved');
  });

  it('comes too late after the time, even when the timer is late', () => {
    const { approvals, clock } = openQuestions();
    const { id } = approvals.ask(question());
    clock.ms += 60_000;
    expect(() => approvals.answer(id, 'approved', operator)).toThrow(/expired/);
    expect(approvals.get(id)).toMatchObject({ status: 'expired', answeredBy: 'time' });
  });
});

describe('settled', () => {
  it('tells everybody who waits, and who asks later, also after a restart', async () => {
    const { approvals, store } = openQuestions();
    const { id } = approvals.ask(question());
    const waiting = [approvals.settled(id, never), approvals.settled(id, never)];
    approvals.answer(id, 'approved', operator);
    for (const settled of [...waiting, approvals.settled(id, never)]) expect((await settled).status).toBe('approved');
    const { approvals: restarted } = openQuestions({ store });
    expect((await restarted.settled(id, never)).status).toBe('approved');
    await expect(restarted.settled('apr_none', never)).rejects.toMatchObject({ code: 'approval-unknown' });
  });

  it('ends with its signal, and leaves the question open for others', async () => {
    const { approvals } = openQuestions();
    const { id } = approvals.ask(question());
    const gone = new AbortController();
    const one = approvals.settled(id, gone.signal);
    const other = approvals.settled(id, never);
    gone.abort(new Error('went away'));
    await expect(one).rejects.toThrow('went away');
    await expect(approvals.settled(id, gone.signal)).rejects.toThrow('went away');
    approvals.answer(id, 'denied', operator);
    expect((await other).status).toBe('denied');
  });

  it('hears that nobody answered in time, also when the time came while the daemon was away', async () => {
    const { approvals, store } = openQuestions({ limits: { expireMs: 20 }, now: Date.now });
    const first = approvals.ask(question());
    expect((await approvals.settled(first.id, never)).status).toBe('expired');
    const second = approvals.ask(question({ askKey: 'second' }));
    approvals.close();
    const late = openQuestions({ store, now: () => second.expiresAtMs + 1 });
    expect((await late.approvals.settled(second.id, never)).status).toBe('expired');
    expect([...late.approvals.waitingExecutions()]).toEqual([]);
  });
});

describe('withdraw', () => {
  it('closes the open questions of an execution, or of a key, and no others', async () => {
    const { approvals } = openQuestions();
    const [one, two, other] = ['1', '2', '3'].map((askKey) =>
      approvals.ask(question({ askKey, executionId: askKey === '3' ? 'exe_2' : 'exe_1' })),
    );
    const settled = approvals.settled(two?.id ?? '', never);
    approvals.answer(one?.id ?? '', 'approved', operator);
    approvals.withdrawOf('exe_1');
    approvals.withdrawOf('exe_1');
    expect((await settled).status).toBe('withdrawn');
    expect(approvals.get(one?.id ?? '')?.status).toBe('approved');
    expect([...approvals.waitingExecutions()]).toEqual(['exe_2']);
    approvals.withdraw('3');
    approvals.withdraw('nothing');
    expect(approvals.get(other?.id ?? '')?.status).toBe('withdrawn');
    expect(approvals.ask(question({ askKey: '3' })).id).not.toBe(other?.id);
  });
});

describe('list', () => {
  it('gives the newest first, of one status and one caller, and counts them', () => {
    const { approvals } = openQuestions();
    const ids = ['1', '2', '3', '4'].map(
      (askKey) => approvals.ask(question({ askKey, caller: askKey === '2' ? 'key_bob' : 'key_ann' })).id,
    );
    approvals.answer(ids[2] ?? '', 'denied', operator);
    const find = (query: { caller?: string; status?: 'open' | 'denied' }) =>
      approvals.list({ ...query, limit: 9 }).map(({ id }) => ids.indexOf(id));
    expect(find({})).toEqual([3, 2, 1, 0]);
    expect(find({ status: 'open' })).toEqual([3, 1, 0]);
    expect(find({ caller: 'key_ann' })).toEqual([3, 2, 0]);
    expect(find({ caller: 'key_ann', status: 'denied' })).toEqual([2]);
    expect(find({ caller: 'key_bob', status: 'open' })).toEqual([1]);
    expect(approvals.list({ status: 'open', limit: 1 })).toHaveLength(1);
    expect([approvals.count({}), approvals.count({ status: 'open' }), approvals.count({ caller: 'key_bob' })]).toEqual([4, 3, 1]);
  });

  it('gives those of one execution, however many newer ones there are', () => {
    const { approvals } = openQuestions();
    const asked = (askKey: string, executionId: string) => approvals.ask(question({ askKey, executionId })).id;
    const [first, second] = [asked('1', 'exe_1'), asked('2', 'exe_1')];
    for (let n = 3; n < 9; n++) asked(String(n), `exe_${n}`);
    approvals.answer(first, 'denied', operator);
    const find = (query: { caller?: string; status?: 'open' | 'denied' }) => {
      const ofExecution = { ...query, executionId: 'exe_1' };
      return [approvals.count(ofExecution), ...approvals.list({ ...ofExecution, limit: 2 }).map(({ id }) => id)];
    };
    expect(find({})).toEqual([2, second, first]);
    expect(find({ status: 'open' })).toEqual([1, second]);
    expect(find({ status: 'denied', caller: 'key_ann' })).toEqual([1, first]);
    expect(find({ status: 'open', caller: 'key_bob' })).toEqual([0]);
    expect(approvals.list({ executionId: 'exe_2', limit: 9 })).toEqual([]);
  });
});
