import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/errors/catalog.ts';
import { startWebServer, type WebServer } from '../../capabilities/network/web-server.ts';
import { type NetworkCase, networkCases, redirectCases, requestCases, withPort } from '../permission-cases.ts';
import { groupByGrant, type PlaceToTry } from './case-groups.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { networkSubjects, presentSubjects, type Step, type StepAnswer, type Subject } from './subjects.ts';

const subjects = presentSubjects(networkSubjects);
const big = 'b'.repeat(300_000);
let world: EngineHouse;
let server: WebServer;
let cases: readonly NetworkCase[];
let ended = 0;

beforeAll(async () => {
  // On all addresses of the machine: whatever gets through is seen.
  server = await startWebServer((request, response) => {
    const redirect = /^\/redirect\/(\d+)$/.exec(request.path);
    const location = redirect ? redirectCases[Number(redirect[1])]?.location : undefined;
    if (request.path === '/moved') response.writeHead(302, { location: '/there' }).end();
    else if (location !== undefined) response.writeHead(302, { location: withPort(location, server.port) }).end();
    else if (request.path === '/endless') writeOn(response);
    else response.end(request.path === '/big' ? big : 'hello');
  }, '::');
  cases = withPort(networkCases, server.port);
  world = await openEngineHouse({ subjects, config: { network: { timeoutMs: 2000 } } });
}, 60_000);
afterAll(async () => {
  await world.close();
  await server[Symbol.asyncDispose]();
});

const get = (place: string): Step => ({ op: 'fetch', payload: { url: `http://${place}/` } });
const told = (answer: StepAnswer | undefined) => (answer?.ok ? 'answered' : answer?.code);

/** What an answer may say: the code, or what stands for it in a proxy's answer or in the guest's own parser. */
function mayBe(subject: Subject, expected: ErrorCode, isOpenable: boolean): readonly (string | undefined)[] {
  if (subject.byProxy) {
    return expected === 'network-failed' ? ['HTTP 502'] : ['HTTP 403', ...(isOpenable ? [] : ['HTTP 400'])];
  }
  // A URL that no parser takes never leaves the guest; where a grant opens the place it must be the daemon that refused.
  return isOpenable ? [expected] : [expected, 'TypeError', 'ERR_INVALID_URL'];
}

/** Asks for every place of the cases, by groups that have one grant. */
async function tryPlaces(subject: Subject, places: readonly PlaceToTry[]): Promise<Map<string, StepAnswer | undefined>> {
  const answers = new Map<string, StepAnswer | undefined>();
  for (const { granted, names, members } of groupByGrant(places)) {
    world.resolveBy(names);
    const found = await world.tryAs(
      subject,
      { net: granted },
      members.map(({ place }) => get(place)),
    );
    for (const [index, { what }] of members.entries()) answers.set(what, found[index]);
  }
  return answers;
}

describe.each(subjects.map((subject) => [subject.title, subject] as const))('a guest of %s', (_title, subject) => {
  it('reaches no place that is not granted, in whatever spelling', async () => {
    server.seen.length = 0;
    const answers = await tryPlaces(subject, cases);
    const found = cases.map(({ what }) => [what, told(answers.get(what))]);
    const wanted = cases.map(({ what, expected, allowedBy }) => {
      const accepted = mayBe(subject, expected, allowedBy !== undefined);
      const code = told(answers.get(what));
      return [what, accepted.includes(code) ? code : accepted.join(' or ')];
    });
    expect(found).toEqual(wanted);
    expect(server.seen).toEqual([]);
  }, 120_000);

  it('reaches the same places by the same probe once they are granted', async () => {
    const openable = cases.flatMap(({ what, place, allowedBy, names = {} }) =>
      allowedBy === undefined ? [] : [{ what, place, granted: allowedBy, names: lastAnswers(names) }],
    );
    const answers = await tryPlaces(subject, openable);
    const found = openable.map(({ what }) => [what, JSON.stringify(answers.get(what))]);
    expect(found).toEqual(openable.map(({ what }) => [what, expect.stringContaining('hello')]));
  }, 120_000);
});

const fetching = subjects.filter(({ title }) => !/ by (?:node:net|its proxy)$|command|eval_code/.test(title));
describe.each(fetching.map((subject) => [subject.title, subject] as const))('fetch in %s', (_title, subject) => {
  it('sends no request that is not what its host says, and the plain one', async () => {
    server.seen.length = 0;
    const attacks = withPort(requestCases, server.port);
    const steps = attacks.map(({ url, headers }): Step => ({ op: 'fetch', payload: { url, ...(headers ? { headers } : {}) } }));
    const plain = get(`127.0.0.1:${server.port}`);
    const answers = await world.tryAs(subject, { net: ['127.0.0.1', 'example.com'] }, [...steps, plain]);
    const found = attacks.map(({ what }, index) => [what, told(answers[index])]);
    const wanted = attacks.map(({ what, expected }, index) => {
      const code = told(answers[index]);
      return [what, mayBe(subject, expected, false).includes(code) ? code : expected];
    });
    expect(found).toEqual(wanted);
    expect(JSON.stringify(answers.at(-1))).toContain('hello');
    expect(server.seen).toHaveLength(1);
  });

  it('follows redirects only to what is granted', async () => {
    const paths = redirectCases.map((_each, index) => `127.0.0.1:${server.port}/redirect/${index}`);
    const steps = [...paths, `127.0.0.1:${server.port}/moved`].map(
      (path): Step => ({ op: 'fetch', payload: { url: `http://${path}` } }),
    );
    world.resolveBy({ localhost: [['127.0.0.1']] });
    const answers = await world.tryAs(subject, { net: ['127.0.0.1'] }, steps);
    expect(redirectCases.map(({ what }, index) => [what, told(answers[index])])).toEqual(
      redirectCases.map(({ what, expected }) => [what, expected]),
    );
    expect(JSON.stringify(answers.at(-1))).toContain('hello');
  });
});

// Whoever calls `hotcell_call` reads the pieces of a large body one by one itself.
const whole = fetching.filter(({ title }) => title !== 'extism by hotcell_call');
describe.each(whole.map((subject) => [subject.title, subject] as const))('fetch in %s', (_title, subject) => {
  it('brings a large body whole', async () => {
    const step = { op: 'fetch', payload: { url: `http://127.0.0.1:${server.port}/big` } };
    const [answer] = await world.tryAs(subject, { net: ['127.0.0.1'] }, [step]);
    expect(JSON.stringify(answer).includes(big)).toBe(true);
  });
});

const streaming = subjects.filter(({ title }) => /^(?:quickjs|deno|docker)$/.test(title));
describe.each(streaming.map((subject) => [subject.title, subject] as const))('fetch in %s', (_title, subject) => {
  it('reads a body as it comes, and ends the request when it is aborted', async () => {
    ended = 0;
    const step = { op: 'fetch.abort', payload: { url: `http://127.0.0.1:${server.port}/endless` } };
    const answers = await world.tryAs(subject, { net: ['127.0.0.1'] }, [step]);
    expect(answers).toEqual([{ ok: true, value: { bytes: true, rest: 'AbortError' } }]);
    await expect.poll(() => ended, { timeout: 10_000 }).toBe(1);
  });
});

/** A body without an end; counts those whose reader went away. */
function writeOn(response: ServerResponse): void {
  const timer = setInterval(() => response.write('.'.repeat(20_000)), 10);
  response.once('close', () => {
    clearInterval(timer);
    ended++;
  });
}

function lastAnswers(names: NonNullable<NetworkCase['names']>): NonNullable<NetworkCase['names']> {
  return Object.fromEntries(Object.entries(names).map(([name, answers]) => [name, answers.slice(-1)]));
}
