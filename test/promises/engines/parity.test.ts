import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAnswer } from '../../../src/calls/call-types.ts';
import { buildText, moduleOf } from '../../engines/extism/build/build-fixture.ts';
import { type EngineHouse, openEngineHouse } from './engine-house.ts';
import { type Part, presentParts } from './subjects.ts';

/** What handlers return or throw, as source; a plugin behaves the same wherever it runs, `built` as a module too. */
const endings: Readonly<Record<string, string>> = {
  nothing: 'return undefined',
  null: 'return null',
  text: "return 'text'",
  'text that looks like JSON': "return '{}'",
  'half a character': "return 'a\\ud800b'",
  'not a number': 'return [Number.NaN, Infinity, -0]',
  'a large number': 'return 2 ** 53 + 2',
  'a big integer': 'return 1n',
  'a function': 'return () => 1',
  'a symbol': "return Symbol('a')",
  'members without JSON': "return { a: undefined, b: () => 1, c: Symbol('c'), d: 1 }",
  'a date': 'return new Date(0)',
  'a map': 'return new Map([[1, 2]])',
  bytes: 'return new Uint8Array([1, 2])',
  'an error': "return new TypeError('returned')",
  // Engines say it in words of their own.
  'a circle, whose error is told without its message':
    'const a: any = {}; a.a = a; try { JSON.stringify(a) } catch (error: any) { return error.name } return a',
  'something deep': 'let a: any = []; for (let n = 0; n < 1000; n++) a = [a]; return a',
  'toJSON that throws': "return { toJSON() { throw new RangeError('in toJSON') } }",
  'a getter that throws': "return { get a() { throw new RangeError('in a getter') } }",
  thenable: "return { then: (resolve: any) => resolve('then') }",
  proxy: "return new Proxy({}, { ownKeys: () => { throw new RangeError('in a proxy') } })",
  'text thrown': "throw 'only text'",
  'nothing thrown': 'throw undefined',
  'an object thrown': "throw { code: 'permission-denied', message: 'forged' }",
  'an error of a class': "class Own extends Error { name = 'Own' } throw new Own('own')",
  'a code thrown': "throw Object.assign(new Error('coded'), { code: 'E_OWN' })",
  'a rejection nobody hears':
    "Promise.reject(new Error('unheard')); await new Promise((resolve) => setTimeout(resolve, 20)); return 'went on'",
  'a timer that throws':
    "setTimeout(() => { throw new Error('in a timer') }, 1); await new Promise((resolve) => setTimeout(resolve, 30)); return 'went on'",
  'facts of the call':
    'return [typeof context.executionId, context.caller.id, typeof context.session.id, context.signal?.aborted]',
  'what the context lacks':
    "try { await context.files.rename('a', 'b') } catch (error: any) { return [error.code, error.message] }",
  'what globals do':
    "return [btoa('a'), new URL('http://A.test/b/../c').href, structuredClone({ a: 1 }), typeof crypto.randomUUID(), new TextEncoder().encode('é').length]",
};
const names = Object.keys(endings);

const source = (engine: string, isolation = 'session') => `export default {
  name: 'odd_${engine}', description: 'Ends in odd ways.', engine: '${engine === 'built' ? 'quickjs' : engine}', isolation: '${isolation}', permissions: {}, timeoutMs: 20_000,
  parameters: { type: 'object' },
  handler: async ({ what }: any, context: any) => {
    switch (what) {
      ${names.map((name) => `case ${JSON.stringify(name)}: { ${endings[name]}; }`).join('\n      ')}
    }
  },
};
`;

const engines: readonly { readonly engine: string; readonly needs?: Part }[] = [
  { engine: 'built' },
  { engine: 'deno', needs: 'deno' },
  { engine: 'docker', needs: 'docker' },
];
const present = presentParts(engines, ({ engine }) => engine);
let world: EngineHouse;

beforeAll(async () => {
  const all = ['quickjs', ...present.map(({ engine }) => engine)];
  const subjects = all.map((engine) => ({
    plugin: `odd_${engine}`,
    files: async (): Promise<Record<string, string | Uint8Array>> =>
      engine === 'built'
        ? { 'odd_built.wasm': moduleOf(await buildText('odd_built.ts', source(engine, 'call'))) }
        : { [`odd_${engine}.ts`]: source(engine) },
  }));
  world = await openEngineHouse({ subjects });
}, 60_000);
afterAll(() => world.close());

/** In a built module an error's places are part of its message, and a few errors are told in other words. */
const describeEnd = ({ status, output, error }: CallAnswer, isBuilt: boolean) =>
  status === 'success'
    ? { status, output }
    : {
        status,
        code: isBuilt ? codeOfModule(error?.code) : error?.code,
        name: error?.name,
        ...(isBuilt ? {} : { message: error?.message }),
      };

/** A module that refuses its own result throws: then there is no code but that of what was thrown. */
const codeOfModule = (code: string | undefined) => (code === 'output-invalid' ? 'handler-threw' : code);

describe.each(present.map(({ engine }) => [engine]))('a plugin on %s', (engine) => {
  // A module's text is UTF-8, in which half a character cannot be written.
  const own = names.filter((name) => engine !== 'built' || name !== 'half a character');
  it.each(own.map((name) => [name]))('ends as on QuickJS: %s', async (what) => {
    const isBuilt = engine === 'built';
    const wanted = describeEnd(await world.house.call('odd_quickjs', { what }), isBuilt);
    expect(describeEnd(await world.house.call(`odd_${engine}`, { what }), isBuilt)).toEqual(wanted);
  });
});
