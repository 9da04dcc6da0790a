import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CapabilityResult } from '../../../src/border/capability.ts';
import { createFetch } from '../../../src/capabilities/fetch.ts';
import type { Redactor } from '../../../src/secrets/secret-types.ts';
import { createUser, type TestUser } from '../capability-user.ts';
import { refusalOf } from './fetching.ts';
import { startWebServer } from './web-server.ts';

const KIB = 1024;
const grant = { net: ['127.0.0.1'] };

interface Answer {
  readonly status?: number;
  readonly stream?: string;
  readonly done?: boolean;
  readonly truncated: boolean;
  readonly bytes: Buffer;
}

/** A server whose responses the test holds in its hand, and a guest's side of fetch. */
async function open(network: { maxResponseBytes?: number; timeoutMs?: number } = {}, redactor?: Redactor) {
  const responses: ServerResponse[] = [];
  const server = await startWebServer((_request, response) => void responses.push(response));
  const capability = createFetch({
    network: { maxResponseBytes: 100_000_000, timeoutMs: 5000, maxRedirects: 1, ...network },
    ...(redactor ? { secrets: { redactor, findIn: () => [] } } : {}),
  });
  const ask = async (
    op: keyof typeof capability.operations,
    payload: object,
    user: TestUser,
    signal = new AbortController().signal,
  ): Promise<Answer> => {
    const result: CapabilityResult = await capability.operations[op]({ op, payload: JSON.stringify(payload) }, user, signal);
    return { ...(result.payload as Answer), bytes: Buffer.from(result.body ?? []) };
  };
  return {
    capability,
    ask,
    /** Fetches; `answer` writes the response as soon as it is asked for. */
    fetch: async (user: TestUser, answer: (response: ServerResponse) => void, signal?: AbortSignal): Promise<Answer> => {
      const before = responses.length;
      const fetched = ask('fetch', { url: `http://127.0.0.1:${server.port}/` }, user, signal);
      await until(() => responses.length > before);
      const response = responses.at(-1);
      if (response) answer(response);
      return fetched;
    },
    read: (stream: string | undefined, user: TestUser, more: { fill?: boolean; signal?: AbortSignal } = {}) =>
      ask('fetch.read', { stream, ...(more.fill === undefined ? {} : { fill: more.fill }) }, user, more.signal),
    [Symbol.asyncDispose]: async () => {
      await capability.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('it did not come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('fetch and bodies that come piece by piece', () => {
  it('answers a small body at once, without a stream', async () => {
    await using web = await open();
    const answer = await web.fetch(createUser(grant), (response) => void response.end('x'.repeat(64 * KIB - 1)));
    expect(answer).toMatchObject({ status: 200, truncated: false });
    expect(answer.stream).toBeUndefined();
    expect(answer.bytes).toHaveLength(64 * KIB - 1);
  });

  it('hands on what came before the server sends more', async () => {
    await using web = await open();
    const user = createUser(grant);
    let response: ServerResponse | undefined;
    const head = await web.fetch(user, (opened) => {
      response = opened;
      opened.write('one');
    });
    expect(head.bytes.toString()).toBe('one');
    for (const word of ['two', 'three']) {
      const next = web.read(head.stream, user);
      response?.write(word);
      expect(await next).toMatchObject({ done: false, truncated: false, bytes: Buffer.from(word) });
    }
    const last = web.read(head.stream, user);
    response?.end();
    expect(await last).toMatchObject({ done: true, truncated: false, bytes: Buffer.alloc(0) });
    expect((await refusalOf(web.read(head.stream, user))).code).toBe('interrupted');
  });

  it('collects large pieces for a guest that wants all of it', async () => {
    await using web = await open();
    const user = createUser(grant);
    const body = Buffer.alloc(3_000_000, 'abcdefg');
    const head = await web.fetch(user, (response) => void response.end(body));
    const pieces = [head.bytes];
    for (let isDone = false; !isDone; ) {
      const piece = await web.read(head.stream, user, { fill: true });
      pieces.push(piece.bytes);
      isDone = piece.done === true;
    }
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
    expect(pieces.length).toBeLessThanOrEqual(4);
  });

  it('reads no further than the guest does', async () => {
    await using web = await open();
    const user = createUser(grant);
    let sent = 0;
    const head = await web.fetch(user, (response) => {
      const pour = () => {
        do sent += 64 * KIB;
        while (response.write(Buffer.alloc(64 * KIB)) && !response.destroyed);
      };
      response.on('drain', pour);
      pour();
    });
    // What was sent lies in the buffers of two sockets; it stops growing when nobody reads.
    let before = -1;
    await until(() => {
      const isStill = before === sent;
      before = sent;
      return isStill && sent > 0;
    });
    expect(sent).toBeLessThan(20_000_000);
    for (let pieces = 0; pieces < 500; pieces++) await web.read(head.stream, user);
    await until(() => sent > before);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('cuts what %s unpacks to, piece by piece', async (coding, compress) => {
    await using web = await open({ maxResponseBytes: 1_000_000 });
    const user = createUser(grant);
    const bomb = compress(Buffer.alloc(50_000_000));
    const head = await web.fetch(user, (response) => void response.writeHead(200, { 'content-encoding': coding }).end(bomb));
    let bytes = head.bytes.length;
    let last: Answer = head;
    while (last.done !== true) {
      last = await web.read(head.stream, user);
      bytes += last.bytes.length;
    }
    expect(last.truncated).toBe(true);
    expect(bytes).toBe(1_000_000);
  });

  it('refuses a zstd body that asks for a window of more than 8 MiB', async () => {
    await using web = await open();
    // Magic number, a frame without content size, the window descriptor of 128 MiB, one empty last block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01, 0x00, 0x00]);
    const fetched = web.fetch(
      createUser(grant),
      (response) => void response.writeHead(200, { 'content-encoding': 'zstd' }).end(frame),
    );
    expect((await refusalOf(fetched)).code).toBe('network-failed');
  });

  it('closes the socket when the guest cancels, when its read is taken back, and when the call ends', async () => {
    await using web = await open();
    const user = createUser(grant);
    const start = async () => {
      let closed: Promise<unknown> = Promise.resolve();
      const head = await web.fetch(user, (response) => {
        closed = once(response, 'close');
        response.write('begin');
      });
      return { stream: head.stream, closed };
    };
    const cancelled = await start();
    await web.ask('fetch.cancel', { stream: cancelled.stream }, user);
    await cancelled.closed;
    const takenBack = await start();
    const controller = new AbortController();
    const read = refusalOf(web.read(takenBack.stream, user, { signal: controller.signal }));
    controller.abort();
    expect((await read).code).toBe('cancelled');
    await takenBack.closed;
    const left = await start();
    web.capability.endCall(user.executionId);
    await left.closed;
    for (const { stream } of [cancelled, takenBack, left])
      expect((await refusalOf(web.read(stream, user))).code).toBe('interrupted');
  });

  it('closes what nobody reads, and says so', async () => {
    await using web = await open({ timeoutMs: 1000 });
    const user = createUser(grant);
    let closed: Promise<unknown> = Promise.resolve();
    const head = await web.fetch(user, (response) => {
      closed = once(response, 'close');
      response.write('begin');
    });
    await closed;
    expect(await refusalOf(web.read(head.stream, user))).toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('is gone'),
    });
  });

  it('ends a read to which nothing comes', async () => {
    await using web = await open({ timeoutMs: 1000 });
    const user = createUser(grant);
    const head = await web.fetch(user, (response) => void response.write('begin'));
    expect(await refusalOf(web.read(head.stream, user))).toMatchObject({
      code: 'network-failed',
      message: expect.stringContaining('did not answer'),
    });
  });

  it('gives a body to nobody but the call that asked, and to that only while its host is granted', async () => {
    await using web = await open();
    const user = createUser(grant);
    const head = await web.fetch(user, (response) => void response.write('begin'));
    const other = { ...createUser(grant), executionId: 'exe_2' };
    expect((await refusalOf(web.read(head.stream, other))).code).toBe('interrupted');
    await web.ask('fetch.cancel', { stream: head.stream }, other);
    user.grant({});
    expect((await refusalOf(web.read(head.stream, user))).code).toBe('permission-denied');
    user.grant(grant);
    expect((await refusalOf(web.read(head.stream, user))).code).toBe('interrupted');
  });

  it('refuses two reads at the same time', async () => {
    await using web = await open();
    const user = createUser(grant);
    const head = await web.fetch(user, (response) => void response.write('begin'));
    const waiting = refusalOf(web.read(head.stream, user));
    expect((await refusalOf(web.read(head.stream, user))).code).toBe('arguments-invalid');
    web.capability.endCall(user.executionId);
    expect((await waiting).code).toBe('cancelled');
  });

  it('bounds what one call keeps open: further bodies come whole', async () => {
    await using web = await open();
    const user = createUser(grant);
    for (let opened = 0; opened < 32; opened++) {
      expect((await web.fetch(user, (response) => void response.write('begin'))).stream).toBeTypeOf('string');
    }
    const whole = await web.fetch(user, (response) => void response.end('x'.repeat(500_000)));
    expect(whole.stream).toBeUndefined();
    expect(whole.bytes).toHaveLength(500_000);
  });

  it('bounds what the bodies of one plugin and caller hold in memory', async () => {
    await using web = await open({ maxResponseBytes: 1000 });
    await using server = await startWebServer((_request, response) => void response.write('begin'));
    const fetchIn = (call: number) => {
      const user = { ...createUser(grant), executionId: `exe_${call}` };
      return web.ask('fetch', { url: `http://127.0.0.1:${server.port}/` }, user).then(
        ({ stream }) => typeof stream,
        () => 'refused',
      );
    };
    const outcomes = await Promise.all(Array.from({ length: 300 }, (_, index) => fetchIn(index % 10)));
    expect(outcomes.filter((outcome) => outcome === 'string').length).toBeLessThanOrEqual(256);
    expect(outcomes).toContain('refused');
    web.capability.endCall('exe_0');
    expect(await fetchIn(11)).toBe('string');
  });

  it('shows the redactor every byte, also across pieces', async () => {
    await using web = await open({}, starRedactor);
    const user = createUser(grant);
    let response: ServerResponse | undefined;
    const head = await web.fetch(user, (opened) => {
      response = opened;
      opened.write('a*');
    });
    const rest = web.read(head.stream, user, { fill: true });
    response?.end('*b');
    expect(Buffer.concat([head.bytes, (await rest).bytes]).toString()).toBe('a[secret STAR]b');
  });
});

/** Looks for `**`. */
const starRedactor: Redactor = {
  isIdle: false,
  text: (value) => value.replaceAll('**', '[secret STAR]'),
  bytes: (value) => Buffer.from(Buffer.from(value).toString().replaceAll('**', '[secret STAR]')),
  value: (value) => value,
  json: (value) => value,
  stream: () => {
    let held = '';
    return {
      push: (chunk) => {
        const text = (held + Buffer.from(chunk).toString()).replaceAll('**', '[secret STAR]');
        held = text.endsWith('*') ? '*' : '';
        return Buffer.from(text.slice(0, text.length - held.length));
      },
      end: () => Buffer.from(held),
    };
  },
};
