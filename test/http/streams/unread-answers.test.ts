import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Caller } from '../../../src/callers/caller.ts';
import { quotas } from '../../../src/config/quotas.ts';
import type { EventEnvelope } from '../../../src/events/event.ts';
import { AnswerStream } from '../../../src/http/streams/answer-stream.ts';
import { startEventFeed } from '../../../src/http/streams/event-feed.ts';
import { createUnreadAnswers } from '../../../src/http/streams/unread-answers.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { readJson } from '../door-parts.ts';

const mib = 1024 * 1024;
const answerBytes = 15 * mib;
/** So many unread answers are the share of one caller. */
const unreadAnswers = Math.floor(quotas['door.unread'].perCaller / answerBytes);
const plugins = {
  'long.ts': `export default { limits: { outputBytes: ${16 * mib}, memoryBytes: ${96 * mib} }, handler: () => 'x'.repeat(${answerBytes}) };`,
  'short.ts': 'export default { handler: () => "short" };',
};

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
let url: string;
beforeAll(async () => {
  house = await startSmallDaemon(plugins, {}, { listen: true });
  url = house.daemon.url ?? '';
});
afterAll(() => house.close());

function ask(tool: string, key: string, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers } };
  return fetch(`${url}/api/tools/${tool}/call`, { ...init, body: '{}' });
}

async function makeKey(): Promise<string> {
  const headers = { authorization: `Bearer ${house.daemon.token}`, 'content-type': 'application/json' };
  return (await readJson(await fetch(`${url}/api/keys`, { method: 'POST', headers, body: '{}' }))).key;
}

const endedCalls = () => house.events.filter(({ type }) => type === 'execution-end').length;

/** Calls the tool with the long answer and never reads it. */
async function askDeaf(key: string, accept = 'application/json'): Promise<Socket> {
  const before = endedCalls();
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => {});
  const head = ['POST /api/tools/long/call HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`, `Accept: ${accept}`];
  socket.write([...head, 'Content-Type: application/json', 'Content-Length: 2', '', '{}'].join('\r\n'));
  await expect.poll(endedCalls, { timeout: 20_000 }).toBeGreaterThan(before);
  return socket;
}

describe('answers that nobody reads', () => {
  it.each(['application/json', 'text/event-stream'])(
    'are bounded for each caller, as %s: the next is refused, and everybody else is answered',
    async (accept) => {
      const key = await makeKey();
      const neighbour = await makeKey();
      const deaf: Socket[] = [];
      for (let opened = 0; opened < unreadAnswers; opened++) deaf.push(await askDeaf(key, accept));
      const refused = await ask('long', key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await readJson(refused)).toMatchObject({ code: 'rate-limited', detail: expect.stringContaining('wait to be read') });
      expect(await (await ask('long', key, { accept: 'text/event-stream' })).text()).toContain('event: problem');
      expect((await ask('short', key)).status).toBe(200);
      for (const other of [neighbour, house.daemon.token]) {
        expect((await readJson(await ask('long', other))).output).toHaveLength(answerBytes);
      }
      for (const socket of deaf) socket.destroy();
      await expect.poll(async () => (await ask('long', key)).status, { timeout: 20_000 }).toBe(200);
    },
    120_000,
  );

  it('are bounded over WebSocket, too', async () => {
    const key = await makeKey();
    const open = async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${key}` } });
      socket.on('error', () => {});
      await once(socket, 'open');
      return socket;
    };
    const call = (socket: WebSocket) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools.call', params: { ref: 'long' } }));
    const deaf = await Promise.all(Array.from({ length: unreadAnswers }, open));
    for (const socket of deaf) {
      const before = endedCalls();
      socket.pause();
      call(socket);
      await expect.poll(endedCalls, { timeout: 20_000 }).toBeGreaterThan(before);
    }
    const reading = await open();
    call(reading);
    const [answer] = await once(reading, 'message');
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, error: { data: { code: 'rate-limited' } } });
    for (const socket of deaf) socket.terminate();
    reading.close();
  }, 120_000);
});

describe('createUnreadAnswers', () => {
  const caller = (id: string): Caller => ({ id, role: 'caller' });
  const operator: Caller = { id: 'local', role: 'admin' };
  const refused = expect.objectContaining({ code: 'rate-limited', status: 429 });
  const bounds = { perCaller: 4, inAll: 10, reserve: 2 };

  it('cuts the oldest answer of whoever holds most where all together hold too much, and refuses nobody for it', () => {
    const unread = createUnreadAnswers(bounds);
    const cut: string[] = [];
    const hold = (who: Caller, bytes: number, name: string) => unread.hold(who, bytes, () => cut.push(name));
    hold(caller('a'), 2, 'a1');
    hold(caller('a'), 2, 'a2');
    hold(caller('b'), 3, 'b1');
    hold(caller('c'), 2, 'c1');
    expect(cut).toEqual(['a1']);
    hold(operator, 3, 'o1');
    expect(cut).toEqual(['a1']);
    hold(operator, 1, 'o2');
    expect(cut).toEqual(['a1', 'b1']);
  });

  it('takes an answer for read once, and gives what it held to the next', () => {
    const unread = createUnreadAnswers(bounds);
    const release = unread.hold(caller('a'), 3, () => {});
    expect(() => unread.hold(caller('a'), 2, () => {})).toThrow(refused);
    release();
    release();
    unread.hold(caller('a'), 4, () => {});
    expect(() => unread.hold(caller('a'), 1, () => {})).toThrow(refused);
  });

  it('lets one answer through that is larger than a share, and counts callers without a token as one', () => {
    const unread = createUnreadAnswers(bounds);
    unread.hold(caller('anonymous:1'), 100, () => {});
    expect(() => unread.hold(caller('anonymous:2'), 1, () => {})).toThrow(refused);
    unread.hold(caller('b'), 4, () => {});
  });
});

describe('AnswerStream', () => {
  it('tells no events while a megabyte waits, and then the answer', async () => {
    const app = Fastify();
    const event: EventEnvelope = {
      seq: 0,
      at: 0,
      type: 'execution-log',
      caller: null,
      subject: 'exe_1',
      data: { level: 'info', text: 'x'.repeat(1000) },
    };
    let pendingBytes = 0;
    app.get('/', (_request, reply) => {
      const stream = new AnswerStream(reply, { role: 'caller', mayHear: () => true, hold: () => () => {} });
      stream.accepted('exe_1');
      for (let told = 0; told < 5000; told++) stream.event(event);
      pendingBytes = reply.raw.writableLength;
      stream.answer({ output: 'there' });
    });
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const text = await (await fetch(address)).text();
    await app.close();
    expect(pendingBytes).toBeGreaterThan(mib);
    expect(pendingBytes).toBeLessThan(mib + 3000);
    expect(text.trimEnd().split('\n\n').at(-1)).toBe('event: answer\ndata: {"output":"there"}');
  });
});

describe('startEventFeed', () => {
  it('reads kept events no faster than their reader does', async () => {
    const { events } = house.parts;
    const after = events.lastSeq();
    const text = 'x'.repeat(60_000);
    for (let kept = 0; kept < 40; kept++) {
      events.publish('plugin-change', {
        subject: 'short',
        data: { path: text, state: 'ready', previousState: 'ready', reason: '' },
      });
    }
    let pendingBytes = 0;
    let mostPending = 0;
    const all = Promise.withResolvers<void>();
    const end = startEventFeed({
      events,
      filter: { types: ['plugin-change'] },
      after,
      sink: {
        write(event) {
          pendingBytes += JSON.stringify(event).length;
          mostPending = Math.max(mostPending, pendingBytes);
          if (event.seq === events.lastSeq()) all.resolve();
        },
        pendingBytes: () => pendingBytes,
        drained: async () => {
          pendingBytes = 0;
        },
        refuseSlowReader: () => all.reject(new Error('the reader is slow')),
      },
    });
    await all.promise;
    end();
    expect(mostPending).toBeLessThan(2 * mib);
    expect(mostPending).toBeGreaterThan(mib);
  });
});
