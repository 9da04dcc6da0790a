import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config/read/load.ts';
import { startDaemon } from '../../../../src/main.ts';
import type { Daemon } from '../../../../src/operations/daemon-types.ts';
import type { ApprovalRequest } from '../../../../src/permissions/approvals/approval-types.ts';
import { parsePermissions } from '../../../../src/permissions/parse.ts';
import { createDaemonLog } from '../../../../src/secrets/daemon-log.ts';
import { until } from '../../../plugins/rig/supervisor-rig.ts';

const asks = (net: string) => `export default {
  name: 'asks', description: 'Asks.', permissions: { net: ['${net}'] }, handler: async (args: {}) => 'done',
};
`;

const cwd = mkdtempSync(join(tmpdir(), 'hotcell-approvals-'));
const file = join(cwd, 'plugins', 'asks.ts');
let daemon: Daemon;
const keys: Record<string, { id: string; key: string }> = {};

async function start(): Promise<void> {
  const config = loadConfig({ flags: { port: '0' }, env: {}, cwd, parsePermissions });
  daemon = await startDaemon({ config, version: '0.0.0', listen: true, log: createDaemonLog() });
}

beforeAll(async () => {
  mkdirSync(join(cwd, 'plugins'));
  writeFileSync(join(cwd, 'hotcell.config.yaml'), 'workers: { min: 1, max: 1 }\n');
  writeFileSync(file, asks('first.example'));
  await start();
  for (const name of ['ann', 'bob', 'chat', 'admin']) {
    const role = name === 'admin' ? 'admin' : 'caller';
    const { row, key } = daemon.parts.keys.create({ name, role, ...(name === 'chat' ? { rules: { mayAnswer: true } } : {}) });
    keys[name] = { id: row.id, key };
  }
});
afterAll(async () => {
  await daemon.close('the test is over');
  rmSync(cwd, { recursive: true, force: true });
});

/** Asks the daemon over HTTP as one of the keys; as the operator without a name. */
async function ask(path: string, options: { as?: string; body?: unknown } = {}) {
  const token = options.as === undefined ? daemon.token : keys[options.as]?.key;
  const response = await fetch(`${daemon.url}${path}`, {
    method: options.body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const answer = (id: string, body: object, as?: string) =>
  ask(`/api/approvals/${encodeURIComponent(id)}`, { body, ...(as === undefined ? {} : { as }) });

let asked = 0;
function openQuestion(who: string, changes: Partial<ApprovalRequest> = {}) {
  asked += 1;
  return daemon.parts.approvals.ask({
    kind: 'confirm',
    askKey: `key-${asked}`,
    unitPath: file,
    plugin: 'asks',
    tool: 'asks',
    executionId: `exe_${asked}`,
    caller: who === 'local' ? 'local' : (keys[who]?.id ?? ''),
    session: 's',
    reason: 'confirm',
    question: 'Really?',
    argumentsHash: 'a'.repeat(64),
    details: { arguments: { n: asked } },
    ...changes,
  });
}

async function findGrantQuestion(net: string): Promise<string> {
  let id = '';
  await until(async () => {
    const { body } = await ask('/api/approvals');
    const found = body.items.find((item: { question: string }) => item.question.includes(net));
    id = found?.id ?? '';
    return found !== undefined;
  }, `a question about ${net}`);
  return id;
}

describe('approvals.list', () => {
  it('finds all that wait about one plugin, tool, server or file, also behind many newer ones', async () => {
    const first = openQuestion('local', { plugin: 'rare', tool: 'dig' });
    for (let count = 0; count < 3; count++) openQuestion('local');
    const find = async (about: string) => (await ask(`/api/approvals?limit=1&about=${encodeURIComponent(about)}`)).body;
    expect(await find('rare')).toMatchObject({ total: 1, items: [{ id: first.id }] });
    expect(await find('dig')).toMatchObject({ total: 1, items: [{ id: first.id }] });
    expect((await find('asks')).total).toBeGreaterThan(1);
    expect(await find('nosuch')).toEqual({ total: 0, items: [] });
    for (const { id, tool } of daemon.parts.approvals.list({ status: 'open', limit: 99 })) {
      if (tool !== undefined)
        daemon.parts.approvals.answer(id, 'denied', {
          id: 'local',
          role: 'admin',
          mayAnswer: false,
          isPerson: true,
          isOfLineOf: () => true,
        });
    }
  });
});

describe('approvals.list and approvals.get', () => {
  it('show a caller what it caused, and nothing of others', async () => {
    const mine = openQuestion('ann');
    const other = openQuestion('bob');
    const listed = await ask('/api/approvals', { as: 'ann' });
    expect(listed.body).toMatchObject({ total: 1, items: [{ id: mine.id, saidBy: 'plugin', mayAnswer: 'no', status: 'open' }] });
    expect((await ask(`/api/approvals/${mine.id}`, { as: 'ann' })).body).toMatchObject({
      details: { arguments: { n: asked - 1 } },
    });
    const forged = await ask('/api/approvals/apr_0', { as: 'ann' });
    const foreign = await ask(`/api/approvals/${other.id}`, { as: 'ann' });
    expect([foreign.status, foreign.body.code, forged.status, forged.body.code]).toEqual([
      404,
      'approval-unknown',
      404,
      'approval-unknown',
    ]);
    expect(foreign.body.detail?.replace(other.id, '')).toBe(forged.body.detail?.replace('apr_0', ''));
    const all = (await ask('/api/approvals', { as: 'admin' })).body;
    expect(all.items.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([mine.id, other.id]));
    expect(JSON.stringify(all)).not.toContain(cwd);
    expect((await ask('/api/approvals?limit=1', { as: 'admin' })).body).toMatchObject({
      items: [{ id: other.id }],
      total: all.total,
    });
  });

  it('take a status, or all', async () => {
    const { id } = openQuestion('ann');
    await answer(id, { answer: 'deny' });
    const list = async (query: string) => (await ask(`/api/approvals?${query}`, { as: 'ann' })).body.items.map(idOf);
    expect(await list('status=denied')).toEqual([id]);
    expect(await list('status=all')).toContain(id);
    expect(await list('')).not.toContain(id);
    expect((await ask('/api/approvals?status=maybe')).status).toBe(400);
  });

  it('take an execution, and show a caller nothing of those of others', async () => {
    const { id, executionId } = openQuestion('ann');
    openQuestion('ann');
    const path = `/api/approvals?executionId=${executionId}&limit=1`;
    expect((await ask(path, { as: 'ann' })).body).toMatchObject({ total: 1, items: [{ id }] });
    expect((await ask(path, { as: 'bob' })).body).toMatchObject({ total: 0, items: [] });
    expect((await ask('/api/approvals?executionId=')).status).toBe(400);
  });
});

const idOf = ({ id }: { id: string }): string => id;

describe('approvals.answer', () => {
  it('takes one of two answers that race, and refuses the other with 409', async () => {
    const { id } = openQuestion('ann');
    const answers = await Promise.all([
      answer(id, { answer: 'approve' }),
      answer(id, { answer: 'deny' }, 'admin'),
      answer(id, { answer: 'approve' }, 'admin'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const [won] = answers.filter(({ status }) => status === 200);
    expect((await ask(`/api/approvals/${id}`)).body).toMatchObject({
      status: won?.body.status,
      answeredBy: won?.body.answeredBy,
    });
  });

  it.each([
    ['ann', 'ann', {}, 403],
    ['ann', 'ann', { person: true }, 403],
    ['ann', 'bob', {}, 404],
    ['ann', 'chat', {}, 404],
    ['chat', 'chat', {}, 200],
    ['ann', 'admin', {}, 200],
    ['admin', 'admin', { person: true }, 403],
    ['local', undefined, {}, 403],
    ['local', undefined, { person: true }, 200],
    ['local', 'admin', {}, 200],
    ['ann', undefined, {}, 200],
  ])('of what %s caused, by %s with %j, answers %i', async (who, as, extra, status) => {
    const { id } = openQuestion(who);
    expect((await answer(id, { answer: 'approve', ...extra }, as)).status).toBe(status);
    expect((await ask(`/api/approvals/${id}`)).body.status).toBe(status === 200 ? 'approved' : 'open');
  });

  it('refuses what does not fit a question', async () => {
    const { id } = openQuestion('ann');
    for (const body of [
      { answer: 'approved' },
      {},
      { answer: 'approve', scope: 'once' },
      { answer: 'deny', session: 's' },
      { answer: 'approve', untilMs: 1 },
      { answer: 'approve', argumentsHash: 'x' },
    ]) {
      expect([body, (await answer(id, body)).status]).toEqual([body, 400]);
    }
    expect((await answer('x'.repeat(500), { answer: 'approve' })).status).toBe(400);
  });

  it.each(['approve', 'deny'] as const)('takes %s of what a list cuts from whoever read all of it', async (said) => {
    const { id } = openQuestion('ann', { details: { arguments: { code: `${'x'.repeat(5000)}the tail` } } });
    const { body } = await ask('/api/approvals?limit=1000');
    const listed = body.items.find((item: { id: string }) => item.id === id);
    expect([listed.cut, listed.shownHash]).toEqual([{ arguments: 5019 }, undefined]);
    expect(JSON.stringify(listed)).not.toContain('the tail');
    const shown = (await ask(`/api/approvals/${id}`)).body;
    expect([shown.cut, shown.details.arguments.code]).toEqual([undefined, expect.stringMatching(/the tail$/)]);
    if (said === 'approve') {
      const refused = await answer(id, { answer: said });
      expect(refused).toMatchObject({ status: 400, body: { code: 'body-invalid', fix: expect.stringContaining('shownHash') } });
      expect((await answer(id, { answer: said, shownHash: 'f'.repeat(64) })).status).toBe(409);
      expect((await answer(id, { answer: said, shownHash: shown.shownHash })).body.status).toBe('approved');
    } else expect((await answer(id, { answer: said })).body.status).toBe('denied');
  });

  it('grants what a plugin asks for, exactly and once, and only to what was shown', async () => {
    const id = await findGrantQuestion('first.example');
    for (const as of ['ann', 'chat']) expect((await answer(id, { answer: 'approve' }, as)).status).toBe(404);
    expect((await answer(id, { answer: 'approve', scope: 'until' })).status).toBe(400);
    expect((await answer(id, { answer: 'approve', untilMs: Date.now() + 60_000 })).body).toMatchObject({ status: 'approved' });
    expect(daemon.parts.plugins.get('asks')).toMatchObject({
      state: 'ready',
      permissions: { granted: { net: ['first.example'] }, pending: {} },
    });
    expect(daemon.parts.grants.list()).toMatchObject([{ scope: 'until', grantedBy: 'local' }]);
    expect((await answer(id, { answer: 'approve' })).status).toBe(409);
    expect(daemon.parts.grants.list()).toHaveLength(1);
  });

  it('refuses what was asked before an edit, and remembers a denial over a restart', async () => {
    writeFileSync(file, asks('second.example'));
    const second = await findGrantQuestion('second.example');
    writeFileSync(file, asks('third.example'));
    const third = await findGrantQuestion('third.example');
    expect((await answer(second, { answer: 'approve' })).status).toBe(409);
    expect(daemon.parts.grants.list()).toHaveLength(1);
    expect((await answer(third, { answer: 'deny' })).body).toMatchObject({ status: 'denied', answeredBy: 'local' });
    const orphan = openQuestion('ann');
    await daemon.close('to start again');
    await start();
    const { body } = await ask('/api/approvals');
    // No call waits for this one, so nobody is asked any more.
    expect(body.items.map(idOf)).not.toContain(orphan.id);
    expect(body.items.filter(({ kind }: { kind: string }) => kind === 'grant')).toEqual([]);
    expect((await answer(orphan.id, { answer: 'approve' }, 'admin')).status).toBe(409);
    expect((await ask(`/api/approvals/${third}`)).body.status).toBe('denied');
  });

  it('withdraws the question of a plugin that goes', async () => {
    writeFileSync(file, asks('fourth.example'));
    const id = await findGrantQuestion('fourth.example');
    rmSync(file);
    await until(async () => (await ask(`/api/approvals/${id}`)).body.status === 'withdrawn', 'the end of the question');
  });

  it('is told to its caller and to admins alone', async () => {
    const { id } = openQuestion('ann');
    await answer(id, { answer: 'approve' });
    const hears = async (as: string) => {
      const { body } = await ask('/api/events/kept?types=approval-request,approval-answer&limit=1000', { as });
      return body.items.filter((event: { data: { approval: string } }) => event.data.approval === id).map(typeOf);
    };
    expect(await hears('ann')).toEqual(['approval-request', 'approval-answer']);
    expect(await hears('admin')).toEqual(['approval-request', 'approval-answer']);
    expect(await hears('bob')).toEqual([]);
  });
});

const typeOf = ({ type }: { type: string }): string => type;
