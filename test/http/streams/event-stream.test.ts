import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Door, openDoor, readJson } from '../door-parts.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

function publishLog(text: string, caller: string | null = null): void {
  door.events.publish('execution-log', { caller, subject: 'exe_1', data: { level: 'info', text } });
}

function publishChange(reason: string): void {
  door.events.publish('plugin-change', {
    subject: 'echo',
    data: { path: 'echo.ts', state: 'ready', previousState: 'loading', reason },
  });
}

/** Opens a stream; `take` resolves with the next events. */
async function openStream(path: string, headers: Record<string, string> = {}) {
  const controller = new AbortController();
  const response = await door.fetch(path, { headers, signal: controller.signal });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    close: () => controller.abort(),
    async take(count: number) {
      const blocks = () => text.split('\n\n').filter((block) => block.includes('data: '));
      while (blocks().length < count) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended after ${blocks().length} events`);
        text += value;
      }
      return blocks().map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)));
    },
    text: () => text,
  };
}

describe('GET /api/events', () => {
  it('sends what happens from now on, fleeting events without an id', async () => {
    publishChange('before');
    const stream = await openStream('/api/events');
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    publishChange('after');
    publishLog('a line');
    const [first, second] = await stream.take(2);
    expect([first.data.reason, second.data.text, second.seq]).toEqual(['after', 'a line', 0]);
    expect(stream.text()).toContain(`id: ${first.seq}\nevent: plugin-change`);
    expect(stream.text()).not.toContain('id: 0');
    stream.close();
  });

  it('resumes after Last-Event-ID without a gap or a repetition', async () => {
    const from = door.events.lastSeq();
    for (let index = 0; index < 450; index++) publishChange(`kept ${index}`);
    const stream = await openStream('/api/events', { 'last-event-id': String(from) });
    for (let index = 450; index < 500; index++) publishChange(`kept ${index}`);
    const events = await stream.take(500);
    expect(events.map((event) => event.data.reason)).toEqual(Array.from({ length: 500 }, (_, index) => `kept ${index}`));
    stream.close();
  });

  it('sends only the types that were asked for, and names the near one of a wrong type', async () => {
    const stream = await openStream('/api/events?types=execution-log,plugin-removed');
    publishChange('unseen');
    publishLog('seen');
    expect((await stream.take(1))[0].data.text).toBe('seen');
    stream.close();
    const problem = await readJson(await door.fetch('/api/events?types=execution-logs'));
    expect(problem).toMatchObject({ code: 'body-invalid', detail: expect.stringContaining('"execution-log"') });
    const misnamed = await readJson(await door.fetch('/api/events?type=execution-log'));
    expect(misnamed).toMatchObject({ code: 'body-invalid', detail: 'There is no parameter "type". Did you mean "types"?' });
    expect((await door.fetch('/api/events', { headers: { 'last-event-id': 'x' } })).status).toBe(400);
  });

  it("keeps a caller from other callers' events", async () => {
    const { id, key } = await readJson(
      await door.fetch('/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
    );
    const stream = await openStream('/api/events', { authorization: `Bearer ${key}` });
    publishLog('of somebody else', 'other');
    publishChange('of the daemon');
    publishLog('mine', id);
    expect((await stream.take(1)).map((event) => event.data.text)).toEqual(['mine']);
    stream.close();
  });

  it('ends with its key, with the next event', async () => {
    const { id, key } = await readJson(
      await door.fetch('/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
    );
    const stream = await openStream('/api/events', { authorization: `Bearer ${key}` });
    publishLog('heard', id);
    await stream.take(1);
    door.keys.revoke(id);
    publishLog('not heard any more', id);
    await expect(stream.take(2)).rejects.toThrow('ended after 1 events');
  });

  it('ends a reader that does not keep up', async () => {
    const { port } = new URL(door.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${door.token}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const line = 'x'.repeat(100_000);
    const deadline = Date.now() + 20_000;
    const isOpen = () => socket.readyState === 'open' && !socket.destroyed;
    for (let count = 0; count < 400 && isOpen() && Date.now() < deadline; count++) {
      publishLog(line);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.resume();
    await closed;
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
  });
});
