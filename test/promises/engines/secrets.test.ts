import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionContracts } from '../../../src/operations/contracts/executions.ts';
import { startWebServer, type WebServer } from '../../capabilities/network/web-server.ts';
import { removeDaemonFolder } from '../daemon-process.ts';
import { findTraces } from '../secret-traces.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { networkSubjects, presentSubjects, type Step, type StepAnswer, type Subject } from './subjects.ts';

const secret = 's3cr+t/v4lue&of=the~header?9';
const granted = { net: ['127.0.0.1'], env: ['HEADER_KEY'], kv: true, read: ['.'], write: ['.'] } as const;
const subjects = presentSubjects(networkSubjects).filter(({ title }) => !/command|eval_code/.test(title));
// Those whose own network clients are tried here ask for HEADER_KEY as every other guest of their engine does.
const viaFetch = subjects.filter(({ title }) => !/ by (?:node:net|its proxy)$/.test(title));
const viaClients = subjects.filter((subject) => !viaFetch.includes(subject));
const told: string[] = [];
let world: EngineHouse;
let server: WebServer;
let origin: string;

beforeAll(async () => {
  server = await startWebServer(({ headers }, response) => {
    const value = String(headers['x-key']);
    const forms = [value, encodeURIComponent(value), JSON.stringify({ value }), Buffer.from(value).toString('hex')];
    const padded = ['', 'x', 'xx'].map((pad) => Buffer.from(pad + value).toString('base64'));
    response.writeHead(200, { 'x-echo': value, 'content-type': 'text/plain' }).end([...forms, ...padded].join('\n'));
  });
  origin = `http://127.0.0.1:${server.port}`;
  process.env.HIDDEN_IN_ENVIRONMENT = secret;
  world = await openEngineHouse({
    subjects,
    config: { secrets: { HEADER_KEY: { env: 'HIDDEN_IN_ENVIRONMENT', hosts: ['127.0.0.1'], header: 'x-key' } } },
  });
}, 60_000);
afterAll(async () => {
  delete process.env.HIDDEN_IN_ENVIRONMENT;
  await server[Symbol.asyncDispose]();
});

const ask = async (subject: Subject, ...rest: [Parameters<EngineHouse['tryAs']>[1], readonly Step[]]) => {
  const answers = await world.tryAs(subject, ...rest);
  told.push(JSON.stringify(answers));
  return answers;
};
const send = (init: object = {}, path = '/', op = 'fetch'): Step => ({ op, payload: { url: origin + path, ...init } });
const inHeader = (name = 'x-key', value = '@@@') => ({ headers: [[name, value]] });
const codes = (answers: readonly StepAnswer[]) => answers.map((answer) => (answer.ok ? 'sent' : answer.code));
const sentKeys = () => server.seen.map(({ headers }) => headers['x-key']);

describe.each(viaFetch.map((subject) => [subject.title, subject] as const))('a secret in a guest of %s', (_title, subject) => {
  it('reaches its host while the guest sees a placeholder before and a label after', async () => {
    server.seen.length = 0;
    const [plain, turned] = await ask(subject, granted, [send(inHeader()), send(inHeader(), '/', 'fetch.turned')]);
    expect(sentKeys()).toEqual([secret, secret]);
    expect(JSON.stringify(plain)).toContain('[secret HEADER_KEY]');
    const seen = turnBack(turned);
    expect([seen.includes('[secret HEADER_KEY]'), findTraces([secret], seen)]).toEqual([true, []]);
  });

  it('is refused before anything is sent where it does not belong', async () => {
    server.seen.length = 0;
    const isHttpFunction = subject.title.endsWith('http_request');
    const steps = [
      send(inHeader('x-other')),
      send({}, '/@@@'),
      send({}, '/?key=@@@'),
      send(inHeader('x-key'), '/?again=@@@'),
      ...(isHttpFunction || subject.title.startsWith('extism') ? [] : [{ ...send({ method: 'POST' }), body: '@@@' }]),
    ];
    expect(codes(await ask(subject, granted, steps))).toEqual(steps.map(() => 'secret-misplaced'));
    expect(server.seen).toEqual([]);
    expect(codes(await ask(subject, granted, [send(inHeader())]))).toEqual(['sent']);
  });

  it('is not there without its grant, nor by the placeholder of another call', async () => {
    const [denied] = await ask(subject, { net: ['127.0.0.1'] }, [send(inHeader())]);
    expect(denied).toMatchObject({ ok: false, code: 'permission-denied' });
    const [read] = await ask(subject, granted, [{ op: 'env.get', payload: { name: 'HEADER_KEY' } }]);
    const placeholder = String(Object(read).value);
    expect(placeholder.length).toBeGreaterThan(10);
    server.seen.length = 0;
    expect(codes(await ask(subject, granted, [send(inHeader('x-key', placeholder))]))).toEqual(['secret-misplaced']);
    expect(server.seen).toEqual([]);
  });
});

describe.each(viaClients.map((subject) => [subject.title, subject] as const))('a secret in a guest of %s', (_title, subject) => {
  it('does not leave by a network client of the guest, and no variable holds it', async () => {
    server.seen.length = 0;
    const [sent, env] = await ask(subject, granted, [
      { op: 'native.send', payload: { url: `${origin}/`, header: 'x-key: @@@' } },
      { op: 'native.env' },
    ]);
    expect(sent).toMatchObject({ ok: true });
    expect([server.seen.length, sentKeys()[0]?.length, findTraces([secret], String(sentKeys()))]).toEqual([
      1,
      expect.any(Number),
      [],
    ]);
    expect([env?.ok, findTraces([secret], JSON.stringify(env))]).toEqual([true, []]);
    // Its twin: the daemon's own client puts it in.
    await ask(subject, granted, [{ op: 'context.fetch', payload: { url: `${origin}/`, ...inHeader() } }]);
    expect(sentKeys().at(-1)).toBe(secret);
  });
});

describe('a secret that guests of every engine used', () => {
  it('is in no answer, record, recording, value, log or file', async () => {
    const { items } = await world.house.client.invoke(executionContracts.list, { limit: 200 });
    const details = await Promise.all(items.map(({ id }) => world.house.client.invoke(executionContracts.get, { id })));
    expect(details.length).toBeGreaterThan(subjects.length);
    expect(findTraces([secret], told.join('\n') + JSON.stringify(details))).toEqual([]);
    await world.house.close();
    const dataDir = join(world.folder, '.hotcell');
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const found = files.flatMap(({ parentPath, name }) =>
      findTraces([secret], readFileSync(join(parentPath, name))).map((trace) => `${name}: ${trace}`),
    );
    expect([files.length > 3, found]).toEqual([true, []]);
    removeDaemonFolder(world.folder);
  });
});

/** What the guest saw, from the first byte to the last; a body in base64 is read. */
function turnBack(answer: StepAnswer | undefined): string {
  const text = [...String(Object(answer).value)].reverse().join('');
  const body = /"body":"([^"]*)"/.exec(text)?.[1];
  return body === undefined ? text : text + Buffer.from(body, 'base64').toString();
}
