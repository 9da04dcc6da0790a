import { describe, expect, it } from 'vitest';
import { createUser } from './capability-user.ts';
import { startWebServer } from './network/web-server.ts';
import { openTable } from './table-harness.ts';

describe('createCapabilityTable', () => {
  it('refuses by name what comes later or belongs to other systems, whatever is granted', async () => {
    await using table = openTable();
    const grant = { llm: true, run: ['ls'], tools: ['*'] };
    for (const op of ['skill', 'agent.pushTask', 'browser.navigate']) {
      const answer = await table.value(op, { args: [] }, { grant });
      expect(answer).toMatch(/^not-supported: context\.\S+ is not part of this version.*hotcell docs plugin-format/);
      expect(answer).toContain(`context.${op}`);
    }
  });

  it('refuses an operation that nobody offers, without repeating all of it', async () => {
    await using table = openTable();
    for (const op of ['', 'nothing', 'kv', 'kv.drop', 'fetch.x', '__proto__', 'constructor', '*', '.*', 'x'.repeat(10_000)]) {
      const answer = await table.ask(op, {}, { grant: {} });
      expect(answer).toMatchObject({ ok: false, code: 'not-supported' });
      expect(JSON.stringify(answer).length).toBeLessThan(300);
    }
    expect(table.faults).toEqual([]);
  });

  it('refuses in words what every object has by another name', async () => {
    await using table = openTable();
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      for (const op of [name, `agent.${name}`, `browser.${name}`, `kv.${name}`, `files.${name}`]) {
        expect(await table.ask(op, {}, { grant: {} })).toMatchObject({
          ok: false,
          code: 'not-supported',
          message: expect.stringContaining(`context.${op} is not part of this version.`),
        });
      }
    }
  });

  it('fetches for real, through the resolver it was given', async () => {
    await using server = await startWebServer((_request, response) => void response.end('over the border'));
    await using table = openTable({ resolver: async () => ['127.0.0.1'] });
    const user = createUser({ net: ['site.test', '127.0.0.1'] });
    const answer = await table.ask('fetch', { url: `http://site.test:${server.port}/` }, user);
    const body = answer.ok ? (answer.body ?? new Uint8Array()) : new Uint8Array();
    expect(Buffer.from(body).toString()).toBe('over the border');
    expect(body.buffer.byteLength).toBe(body.length);
    expect(await table.value('fetch', { url: 'http://other.test/' }, user)).toMatch(
      /^permission-denied: Tool "weather" may not reach other\.test\./,
    );
  });

  it('bounds what crosses', async () => {
    await using table = openTable();
    expect(await table.value('kv.set', `"${'x'.repeat(20_000_000)}"`, { grant: {} })).toContain('payload-too-large');
    expect(await table.value('files.write', { path: 'x' }, { grant: {} }, new Uint8Array(20_000_000))).toContain(
      'payload-too-large',
    );
  });

  it('tells the guest an id, and the log the fault', async () => {
    await using table = openTable();
    table.store.close();
    const answer = await table.ask('kv.get', { key: 'a' }, { grant: { kv: true } });
    expect(answer).toMatchObject({ ok: false, code: 'internal' });
    const [fault] = table.faults;
    expect(answer.ok ? '' : answer.message).toBe(
      `The daemon failed to answer "kv.get". The reason is in its log under ${fault?.id}.`,
    );
    expect(fault?.error).toBeInstanceOf(Error);
  });

  it('answers a call that has ended as cancelled', async () => {
    await using table = openTable();
    const request = { op: 'files.read', payload: '{"path":"x"}' };
    expect(await table.table.answer(request, createUser({ read: ['.'] }), AbortSignal.abort())).toMatchObject({
      ok: false,
      code: 'cancelled',
    });
    expect(table.faults).toEqual([]);
  });
});
