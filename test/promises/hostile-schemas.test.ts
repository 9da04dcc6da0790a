import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';

/** A plugin whose schema is its own work: it says that it is a Standard Schema, and does as it likes. */
const schema = (validate: string, describe = "() => ({ type: 'object' })") => `
  const parameters = { '~standard': { version: 1, vendor: 'own', validate: ${validate}, jsonSchema: { input: ${describe} } } };
  export default { description: 'Has a schema of its own.', parameters, handler: (args) => args };`;
/** A tool file of another host, whose tool answers like this. */
const foreign = (execute: string) =>
  `export const tool = { name: 'foreign', description: 'Is foreign.', inputSchema: { type: 'object' }, execute: ${execute} };`;

const called: Readonly<Record<string, readonly [text: string, end: object]>> = {
  never: [schema('() => new Promise(() => {})'), { error: { code: 'handler-never-settles' } }],
  loops: [schema('() => { for (;;); }'), { error: { code: 'time-exceeded' } }],
  throws: [schema('() => { throw new Error("no"); }'), { error: { code: 'handler-threw', message: 'no' } }],
  trap: [schema('() => new Proxy({}, { get() { throw new Error("trap"); } })'), { error: { code: 'handler-threw' } }],
  thenable: [schema('() => ({ then(settle) { settle({ value: { a: 2 } }); settle({ value: 3 }); } })'), { output: { a: 2 } }],
  thenever: [schema('() => ({ then() {} })'), { error: { code: 'handler-never-settles' } }],
  flood: [schema('() => ({ issues: Array.from({ length: 1e5 }, () => ({ message: "x".repeat(1000) })) })'), { status: 'error' }],
  nonsense: [schema('() => ({ issues: [{ message: { toString() { throw 1; } }, path: 5 }, null, 7] })'), { status: 'error' }],
  polluting: [schema(`() => ({ value: JSON.parse('{"__proto__": {"polluted": 1}}') })`), { status: 'success' }],
  late: [foreign('() => ({ get then() { throw new Error("late"); } })'), { error: { message: 'late' } }],
  endless: [foreign('async () => ({ content: [{ get type() { for (;;); } }] })'), { error: { code: 'time-exceeded' } }],
  long: [
    foreign('async () => ({ content: new Proxy([], { get: (target, key) => (key === "length" ? 1e9 : target[key]) }) })'),
    { error: { code: 'time-exceeded' } },
  ],
};
const loaded = {
  describes: schema('(value) => ({ value })', '() => { for (;;); }'),
  deep: schema(
    '(value) => ({ value })',
    "() => { let v = {}; for (let i = 0; i < 1e5; i++) v = { type: 'object', not: v }; return v; }",
  ),
  elsewhere: schema('(value) => ({ value })', "() => ({ type: 'object', $ref: 'http://127.0.0.1:1/x' })"),
};
const quick = "export default { description: 'Is quick.', parameters: { type: 'object' }, handler: (args) => args };";

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  const files = Object.entries({
    ...Object.fromEntries(Object.entries(called).map(([name, [text]]) => [name, text])),
    ...loaded,
    quick,
  });
  const texts = files.map(([name, text]) => [`${name}.ts`, text.replace("name: 'foreign'", `name: '${name}'`)]);
  house = await startSmallDaemon(Object.fromEntries(texts), { limits: { cpuMs: 1000 } });
}, 120_000);
afterAll(() => house.close());

describe('a schema or a foreign tool that a plugin made itself', () => {
  it.each(Object.entries(called))('ends a call of its own alone: %s', async (name, [, end]) => {
    expect(await house.call(name, { b: 1 })).toMatchObject(end);
    expect((await house.call('quick', { a: 1 })).output).toEqual({ a: 1 });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it.each(Object.keys(loaded))('fails its own load alone: %s', (name) => {
    expect(house.parts.plugins.list().find(({ path }) => path.endsWith(`/${name}.ts`))?.state).toBe('failed');
  });
});
