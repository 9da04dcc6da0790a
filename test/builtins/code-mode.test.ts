import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import type { Settings } from '../../src/config/schema.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { openIdentityHouse, operator } from '../promises/identity-house.ts';

const files = {
  'plugins/weather.ts': `export default {
    description: 'Weather for a city. */ nothing ends this comment',
    parameters: { type: 'object', properties: { city: { type: 'string', description: 'Its name' }, days: { type: 'integer' } }, required: ['city'], additionalProperties: false },
    output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
    handler: async (args: any) => ({ celsius: args.city.length }),
  };`,
  'plugins/wipe.ts': `export default { description: 'For admins.', isElevated: true, handler: async () => 'wiped' };`,
  'plugins/ask.ts': `export default { description: 'For people.', who: 'person', handler: async () => 'asked' };`,
  'plugins/danger.ts': `export default { description: 'Asks first.', isDangerous: true, handler: async () => 'done' };`,
  'plugins/around.ts': `export default { description: 'Around.', permissions: { tools: ['*'] }, handler: async (args: any, context: any) => context.tools.call(args.name, args.args).catch((error: any) => error.code) };`,
};

async function openHouse(settings: Settings = {}, more: Readonly<Record<string, string>> = {}) {
  const house = openIdentityHouse(
    { ...files, ...more },
    { grantRequested: true, builtins: { codeForAdmins: true }, ...settings },
  );
  await house.start();
  const coder = await house.key('caller', operator, { code: true });
  return {
    ...house,
    coder,
    run: (code: string, caller: Caller = coder, more = {}) => house.call('run_code', { code, ...more }, caller),
  };
}

describe('run_code', () => {
  it('runs a script that calls tools, with one record for it and one for each call in it', async () => {
    const house = await openHouse();
    const code = `const cities: string[] = ['Rome', 'Oslo', 'Lima'];
const found = await Promise.all(cities.map((city) => tools.weather({ city })));
console.log('found', found.length);
return found.reduce((sum, { celsius }) => sum + celsius, 0);`;
    const answer = await house.run(code);
    expect(answer).toMatchObject({ status: 'success', output: 12 });
    const { executionId: parent } = answer;
    const { items } = await house.invoke(executionContracts.list, { parent });
    expect(items.map(({ tool, status, caller }) => ({ tool, status, caller }))).toEqual(
      [1, 2, 3].map(() => ({ tool: 'weather', status: 'success', caller: house.coder.id })),
    );
    const whole = await house.invoke(executionContracts.get, { id: parent });
    expect(whole).toMatchObject({ tool: 'run_code', engine: 'quickjs', arguments: { code } });
    expect(whole.logs?.map(({ text }) => text)).toEqual(['found 3']);
  });

  it('tells a wrong name or argument with its line and what was probably meant, and runs nothing', async () => {
    const house = await openHouse();
    const wrong: ReadonlyArray<readonly [string, RegExp]> = [
      [
        `await tools.weather({ city: 'Rome' });\nreturn tools.wether({ city: 'Oslo' });`,
        /line 2:14: .*'wether'.*Did you mean 'weather'\?/,
      ],
      [`await tools.weather({ city: 'Rome' });\nreturn tools.weather({ town: 'Oslo' });`, /line 2:\d+: .*'town' does not exist/],
      [
        `await tools.weather({ city: 'Rome' });\nreturn tools.weather({ city: 7 });`,
        /line 2:\d+: Type 'number' is not assignable to type 'string'/,
      ],
      [`await tools.weather({ city: 'Rome' });\nreturn tools['weather report']({});`, /line 2:\d+: .*weather report/],
      [
        `await tools.weather({ city: 'Rome' });\nreturn (await tools.weather({ city: 'x' })).fahrenheit;`,
        /line 2:\d+: .*'fahrenheit'/,
      ],
      [`await tools.weather({ city: 'Rome' });\nreturn (`, /line [23]:\d+: Expression expected/],
      [`await tools.weather({ city: 'Rome' });\nimport x from 'node:fs';`, /line 2:\d+: /],
      [`await tools.weather({ city: 'Rome' });\nreturn fetch('https://example.com');`, /line 2:\d+: Cannot find name 'fetch'/],
      [`await tools.weather({ city: 'Rome' });\n} async function more() {`, /./],
    ];
    for (const [code, expected] of wrong) {
      const { status, error, executionId } = await house.run(code);
      expect({ code, status, error }).toMatchObject({ status: 'error', error: { message: expect.stringMatching(expected) } });
      const { total } = await house.invoke(executionContracts.list, { parent: executionId });
      expect(total, code).toBe(0);
    }
  });

  it('lets pass what is no fault: types that nobody wrote, names that are worked out, values that may be missing', async () => {
    const house = await openHouse();
    const { output, error } = await house.run(`function twice(value) { return value * 2; }
enum Size { Small = 1 }
const name = ['weath', 'er'].join('');
const found = [{ city: 'Rome' }].find((each) => each.city === 'Rome');
try { await tools[name]({}); } catch (error) { console.log(error.code); }
return twice((await tools[name]({ city: found.city })).celsius) + Size.Small;`);
    expect({ output, error }).toEqual({ output: 9 });
  });

  it('says in which line of the script it failed, with the code of the tool that failed', async () => {
    const house = await openHouse();
    expect((await house.run(`const x: any = null;\nreturn x.y;`)).error).toMatchObject({
      code: 'handler-threw',
      message: expect.stringContaining('(line 2 of the script)'),
    });
    const refused = await house.run(`const name: string = 'wipe';\nreturn await (tools as any)[name]({});`);
    expect(refused.error?.message).toContain('isElevated');
  });

  it('gives a script nothing that its caller may not', async () => {
    const house = await openHouse();
    const narrow = await house.key('caller', operator, { code: true, tools: ['danger'] });
    const tryAll = `const tried: string[] = [];
for (const name of ['weather', 'wipe', 'ask', 'run_code', 'search_code', 'call_tool', 'search_tools', 'eval_code']) {
  try { await (tools as any)[name](name === 'weather' ? { city: 'Rome' } : name.endsWith('code') ? { code: 'return 1', query: 'x' } : name === 'call_tool' ? { name: 'weather' } : name === 'search_tools' ? { query: 'x' } : {}); tried.push(name); } catch {}
}
return tried;`;
    expect((await house.run(tryAll)).output).toEqual(['weather']);
    expect((await house.run(tryAll, narrow)).output).toEqual([]);
    expect((await house.run(tryAll, operator)).output).toEqual(['weather', 'wipe']);
    expect((await house.run('return tools.weather({ city: "Rome" })', narrow)).error?.code).toBe('code-invalid');
    await house.invoke(toolContracts.switch, { custom: false });
    expect((await house.run(tryAll)).output).toEqual([]);
  });

  it('is there for those alone whom it is allowed to, at no other door either', async () => {
    const house = await openHouse({ builtins: {} });
    const other = await house.key('caller');
    const admin = await house.key('admin');
    const byConfig = expect.stringContaining('builtins: { codeForAdmins: true }');
    const byKey = expect.stringContaining('hotcell key update ID --code');
    const refusals = [
      [other, { code: 'forbidden', fix: byKey }],
      [operator, { code: 'forbidden', fix: byConfig }],
      [admin, { code: 'forbidden', fix: byConfig }],
      // Whoever has no key hears nothing of it.
      [{ ...house.coder, isAnonymous: true }, { code: 'tool-unknown' }],
    ] as const;
    for (const [caller, refusal] of refusals) {
      for (const name of ['run_code', 'search_code']) {
        const input = { ref: name, arguments: { code: 'return 1', query: 'weather' } };
        await expect(house.invoke(toolContracts.call, input, caller)).rejects.toMatchObject(refusal);
        await expect(house.invoke(toolContracts.get, { ref: name }, caller)).rejects.toMatchObject({ code: refusal.code });
      }
      const { items } = await house.invoke(toolContracts.list, { limit: 100 }, caller);
      expect(items.filter(({ name }) => name.endsWith('_code'))).toEqual([]);
    }
    const { items } = await house.invoke(toolContracts.list, { limit: 100 }, house.coder);
    expect(items.map(({ name }) => name).filter((name) => name.endsWith('_code'))).toEqual(['run_code', 'search_code']);
    await expect(house.key('caller', admin, { code: true })).rejects.toMatchObject({ code: 'forbidden' });
    expect((await house.call('around', { name: 'run_code', args: { code: 'return 1' } }, house.coder)).output).not.toBe(1);
  });

  it('has the tools and nothing else', async () => {
    const house = await openHouse();
    const { output } = await house.run(`const scope = globalThis as any;
const reached: string[] = [];
const attempt = async (name: string, run: () => unknown) => { try { await run(); reached.push(name); } catch {} };
await attempt('fetch', () => scope.fetch('http://127.0.0.1:1/'));
await attempt('import', () => scope.eval("import('node:fs')"));
await attempt('require', () => scope.require('node:fs'));
await attempt('process', () => scope.process.mainModule.require('node:fs'));
await attempt('host', () => scope.host('files.read', 1, new ArrayBuffer(0)));
await attempt('constructor', () => (tools.weather as any).constructor.constructor('return process.mainModule.require("node:fs")')());
await attempt('error', () => { try { scope.undefinedName.x; } catch (error: any) { return error.constructor.constructor('return process.binding("fs").open')(); } });
await attempt('then', () => { if ((tools as any).then !== undefined) return; throw new Error('none'); });
return reached;`);
    expect(output).toEqual([]);
  });

  it('ends like any call, whatever a script does', { timeout: 120_000 }, async () => {
    const house = await openHouse({ limits: { cpuMs: 2000, wallMs: 60_000, hostCalls: 100 } });
    const ends: ReadonlyArray<readonly [string, string]> = [
      ['for (;;) {}', 'time-exceeded'],
      ['const f = (): number => f() + 1; return f();', 'stack-exceeded'],
      ['const all: unknown[] = []; for (;;) all.push(new Uint8Array(4_000_000));', 'memory-exceeded'],
      ['await new Promise(() => {});', 'handler-never-settles'],
      [`return 'x'.repeat(5_000_000);`, 'output-exceeded'],
      [`for (let n = 0; n < 10_000; n++) await tools.weather({ city: 'Rome' });`, 'host-calls-exceeded'],
    ];
    for (const [code, expected] of ends) {
      const { error } = await house.run(code);
      expect({ code, got: error?.code }).toEqual({ code, got: expected });
    }
    const printed = await house.run(`for (let n = 0; n < 100; n++) console.log('y'.repeat(1_000_000)); return 'printed';`);
    const { logs = [] } = await house.invoke(executionContracts.get, { id: printed.executionId });
    expect(logs.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(300_000);
    expect((await house.run('await new Promise((done) => setTimeout(done, 1e6));', house.coder, { timeoutMs: 50 })).status).toBe(
      'timeout',
    );
    expect((await house.run('return 1')).output).toBe(1);
  });
});

describe('search_code', () => {
  it('answers the declarations of tools that fit, as its caller may see them', async () => {
    const house = await openHouse();
    const { output } = await house.call('search_code', { query: 'weather city' }, house.coder);
    expect(output).toBe(`declare const tools: {
  /** Weather for a city. *\\/ nothing ends this comment */
  weather(args: { /** Its name */ city: string; days?: number }): Promise<{ celsius: number }>;
};`);
    expect((await house.call('search_code', { query: 'wipe admins' }, house.coder)).output).toBe(
      '// No tool fits. Say it in other words.',
    );
    expect((await house.call('search_code', { query: 'wipe' }, operator)).output).toContain(
      'wipe(args?: Record<string, unknown>): Promise<any>;',
    );
  });
});
