import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSource } from '../../../src/plugins/discovery/plugin-source.ts';
import type { Generation } from '../../../src/plugins/generations/generation.ts';
import { classifyCheck, classifyDiagnostic, classifyExecution } from '../../../src/repair/failures/classify-failure.ts';
import type { Sureness } from '../../../src/repair/repair.ts';
import type { TrialCheck, TrialReport } from '../../../src/repair/trial/trial.ts';
import { createTrialWorlds } from '../../../src/repair/trial/trial-world.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

const names = `export default {
  name: 'names', version: '1.0.0', description: 'Names of people.',
  permissions: { kv: true, read: ['lists'], write: ['lists'] },
  tools: {
    first_name: {
      description: 'The first name of a list.',
      parameters: { type: 'object', required: ['list'], properties: { list: { type: 'array', items: { type: 'object' } } } },
      isSideEffect: true,
      examples: [{ args: { list: [{ name: 'Ada' }] }, expect: 'Ada' }],
      handler: async ({ list }, { kv }) => {
        await kv.set('asked', list.length);
        return list[0].name;
      },
    },
    count: {
      description: 'How many there are.',
      parameters: { type: 'object', properties: { list: { type: 'array' } } },
      handler: async ({ list = [] }) => list.length,
    },
  },
  healthcheck: async ({ kv }) => { await kv.set('health', 1); return (await kv.get('health')) === 1; },
};`;
const mended = names.replace('list[0].name', "list[0]?.name ?? ''");
const sick = `const split = (text) => text.split(';');
const probe = () => 'a,b';
export default {
  name: 'sick', description: 'Splits.', parameters: { type: 'object', properties: { text: { type: 'string' } } },
  examples: [{ args: { text: 'a,b' }, expect: ['a', 'b'] }],
  handler: async ({ text }) => split(text),
  healthcheck: async () => { if (split(probe()).length !== 2) throw new Error('splits badly'); },
};`;
const slow = `export default { name: 'slow', description: 'slow', limits: { cpuMs: 300 }, handler: ({ n }) => { for (;;) if (n === 1) return 'one'; } };`;
const ebb = `export default { name: 'ebb', description: 'ebb', handler: ({ n }) => { if (n === 1) throw new Error('the tide is out'); return n; } };`;
const plain = `export default { name: 'plain', description: 'plain', permissions: { kv: true }, handler: async () => 'plain' };`;

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
let failedId = '';

beforeAll(async () => {
  const plugins = {
    'names.ts': names,
    'sick.ts': sick,
    'slow.ts': slow,
    'plain.ts': plain,
    'ebb.ts': ebb,
    'broken.ts': 'export default { name: ',
  };
  house = await startSmallDaemon(plugins);
  for (const list of [[{ name: 'Eva' }], [{ name: 'Bo' }, { name: 'Cy' }]]) await house.call('first_name', { list });
  await house.call('count', { list: [1, 2] });
  failedId = (await house.call('first_name', { list: [] })).executionId;
});
afterAll(() => house.close());

async function tryText(
  text: string,
  options: {
    readonly name?: string;
    readonly executionId?: string;
    readonly sureness?: Sureness;
    readonly isUnmeasured?: boolean;
    /** What failed is a check: the health check, or an example of this tool. */
    readonly check?: { readonly tool?: string };
  } = {},
): Promise<TrialReport & { outcomes: Partial<Record<TrialCheck['name'], TrialCheck['outcome']>>; said: string }> {
  const { name = 'names', executionId, sureness = 'maybe', isUnmeasured = false, check: failedCheck } = options;
  const root = { path: join(house.folder, 'plugins'), kind: 'plugins', label: 'plugins' } as const;
  const source = findSource(root, `${name}.ts`);
  if (source === undefined) throw new Error('no such plugin');
  const [kept] = isUnmeasured ? [] : house.parts.plugins.generations(name);
  const diagnosed: Generation | undefined = kept && house.parts.plugins.findGeneration(kept.id);
  const execution =
    executionId === undefined ? undefined : house.parts.executions.get(executionId, { id: 'local', role: 'admin' });
  const diagnostic = { code: 'compile-failed', message: 'Unexpected end of file', fix: '' } as const;
  const ofCheck = failedCheck && { failure: classifyCheck(source.path, { ...failedCheck, said: 'It failed.' }) };
  const judged = ofCheck ?? (execution ? classifyExecution(source.path, execution) : classifyDiagnostic(source.path, diagnostic));
  if (!('failure' in judged)) throw new Error(judged.nobody.reason);
  const report = await house.parts.tryProposal({
    source,
    proposal: { files: new Map([[source.realEntry, text]]), by: 'test', sureness, note: 'a change' },
    diagnosed,
    failure: judged.failure,
    signal: new AbortController().signal,
  });
  const outcomes = Object.fromEntries(report.checks.map(({ name: check, outcome }) => [check, outcome]));
  return { ...report, outcomes, said: report.checks.map(({ detail }) => detail).join('\n') };
}

describe('tryProposal', () => {
  it('shows that a change mends the failing call and loses nothing', async () => {
    const before = house.parts.executions.list({}, { id: 'local', role: 'admin' }).total;
    const report = await tryText(mended, { executionId: failedId });
    expect(report.said).toContain('The call that failed goes well.');
    expect(report.verdict).toBe('mended');
    expect(report.outcomes).toMatchObject({
      compiles: 'passed',
      shape: 'passed',
      tools: 'passed',
      schemas: 'passed',
      permissions: 'passed',
      examples: 'passed',
      healthcheck: 'passed',
      'failing-call': 'passed',
      'earlier-calls': 'passed',
    });
    expect(report.candidate?.build.manifest.name).toBe('names');
    expect(house.parts.executions.list({}, { id: 'local', role: 'admin' }).total).toBe(before);
    report.candidate?.release();
  });

  it.each([
    ['the same failure', names.replace('Names of people.', 'Names of all people.'), 'not-mended', 'failing-call'],
    ['another failure of the code', names.replace('list[0].name', 'list[0][1].name'), 'worse', 'examples'],
    ['a failure that moved', names.replace('await kv.set', 'list[0].name; await kv.set'), 'not-mended', 'failing-call'],
  ])('does not take %s for mended', async (_what, text, verdict, check) => {
    const report = await tryText(text, { executionId: failedId });
    expect([report.verdict, report.outcomes[check as TrialCheck['name']]]).toEqual([verdict, 'failed']);
  });

  it.each([
    ['renames the plugin', mended.replace("name: 'names'", "name: 'other'"), 'worse', 'tools'],
    ['deletes a tool', mended.replace(/count: \{[\s\S]*?list\.length,\n {4}\},/, ''), 'worse', 'tools'],
    ['renames a tool', mended.replace('count: {', 'counted: {'), 'worse', 'tools'],
    [
      'takes less',
      mended.replace("required: ['list'], properties", "required: ['list', 'more'], properties"),
      'worse',
      'schemas',
    ],
    [
      'takes less by a bound',
      mended.replace("items: { type: 'object' } }", "items: { type: 'object' }, maxItems: 1 }"),
      'worse',
      'schemas',
    ],
    ['answers something else', names.replace('list[0].name', "list.at(-1)?.name ?? ''"), 'worse', 'earlier-calls'],
    ['writes something else', mended.replace("kv.set('asked', list.length)", "kv.set('asked', 0)"), 'worse', 'earlier-calls'],
    [
      'replaces its examples',
      mended.replace("expect: 'Ada'", "expect: 'Bob'").replace("?.name ?? ''", '?.title'),
      'worse',
      'examples',
    ],
    ['drops its health check', mended.replace(/ {2}healthcheck:.*\n/, ''), 'worse', 'healthcheck'],
    ['breaks its health check', mended.replace('=== 1;', '=== 2;'), 'worse', 'healthcheck'],
    ['asks for a host', mended.replace('kv: true,', "kv: true, net: ['example.com'],"), 'asks-for-more', 'permissions'],
    ['asks for more of a permission', mended.replace("read: ['lists']", "read: ['.']"), 'asks-for-more', 'permissions'],
    [
      'shares its cell',
      mended.replace('permissions: {', "isolation: 'plugin', permissions: { sharedCell: true,"),
      'asks-for-more',
      'permissions',
    ],
    ['keeps its cells', mended.replace('permissions: {', "isolation: 'session', permissions: {"), 'asks-for-more', 'permissions'],
    [
      'raises a limit',
      mended.replace('permissions: {', 'limits: { memoryBytes: 67108864 }, permissions: {'),
      'asks-for-more',
      'permissions',
    ],
    ['hides that it has effects', mended.replace('isSideEffect: true,', ''), 'asks-for-more', 'permissions'],
    [
      'may run twice',
      mended.replace('isSideEffect: true,', 'isSideEffect: true, idempotent: true, retries: 2,'),
      'asks-for-more',
      'permissions',
    ],
    [
      'takes more time',
      mended.replace('isSideEffect: true,', 'isSideEffect: true, timeoutMs: 60000,'),
      'asks-for-more',
      'permissions',
    ],
    [
      'may run beside others',
      mended.replace('isSideEffect: true,', 'isSideEffect: true, isParallelSafe: true,'),
      'asks-for-more',
      'permissions',
    ],
    [
      'takes a tool out of service',
      mended.replace("description: 'How many", "mode: 'off', description: 'How many"),
      'asks-for-more',
      'permissions',
    ],
    [
      'begins by itself',
      mended.replace('  healthcheck:', '  onStart: async () => {},\n  healthcheck:'),
      'asks-for-more',
      'permissions',
    ],
    ['reads the host by import', `import words from '/etc/passwd';\nconsole.log(words);\n${mended}`, 'worse', 'compiles'],
    ['leads out of its folder', `import words from '../../../secret.json';\nconsole.log(words);\n${mended}`, 'worse', 'compiles'],
    ['does not load', `throw new Error('no');\n${mended}`, 'worse', 'shape'],
  ])('refuses a change that %s', { timeout: 120_000 }, async (_what, text, verdict, check) => {
    expect(text).not.toBe(mended);
    const report = await tryText(text, { executionId: failedId });
    expect([report.verdict, report.outcomes[check as TrialCheck['name']], report.said]).toEqual([verdict, 'failed', report.said]);
    report.candidate?.release();
  });

  const well = sick.replace("split(';')", "split(',')");
  it.each([
    ['code that is mended', well, 'mended', 'passed'],
    ['code that is mended beside another check', well.replace('!== 2', '< 1'), 'mended', 'passed'],
    ['a check that says nothing', sick.replace(/healthcheck: .*/, 'healthcheck: () => true,'), 'not-mended', 'not-tried'],
    ['what only the check reads', sick.replace("'a,b';", "'a;b';"), 'not-mended', 'not-tried'],
    ['a check that is gone', well.replace(/ {2}healthcheck: .*\n/, ''), 'worse', 'failed'],
    ['code that fails as before', sick.replace("split(';')", "split('|')"), 'not-mended', 'not-tried'],
    [
      'code that only the check runs',
      sick.replace('=> split(text)', "=> text.split(';')").replace("split(';');", "split(',');"),
      'not-mended',
      'not-tried',
    ],
  ])('measures a failed health check by itself: %s', async (_what, text, verdict, outcome) => {
    expect(text).not.toBe(sick);
    // The example fails as well, which is another failure.
    const report = await tryText(text, { name: 'sick', check: {} });
    expect([report.verdict, report.outcomes.healthcheck], report.said).toEqual([verdict, outcome]);
    report.candidate?.release();
  });

  it.each([
    ['code that is mended', well, 'mended', 'passed'],
    ['another example', sick.replace("expect: ['a', 'b']", "expect: ['a,b']"), 'worse', 'failed'],
    ['no example', sick.replace(/ {2}examples: .*\n/, ''), 'worse', 'failed'],
  ])('measures a failed example by itself: %s', async (_what, text, verdict, outcome) => {
    const report = await tryText(text, { name: 'sick', check: { tool: 'sick' } });
    expect([report.verdict, report.outcomes.examples], report.said).toEqual([verdict, outcome]);
    report.candidate?.release();
  });

  it('does not take other words of an error that the plugin throws itself for mended', async () => {
    const { executionId } = await house.call('ebb', { n: 1 });
    const report = await tryText(ebb.replace('is out', 'was out'), { name: 'ebb', executionId });
    expect([report.verdict, report.outcomes['failing-call']]).toEqual(['not-mended', 'failed']);
    report.candidate?.release();
  });

  it('finds permissions that are read off the code', async () => {
    const inferred = plain.replace(' permissions: { kv: true },', '');
    const report = await tryText(inferred.replace("'plain' }", "(await fetch('https://evil.example/x')).status }"), {
      name: 'plain',
    });
    expect(report).toMatchObject({ verdict: 'asks-for-more', more: { net: ['evil.example'] } });
  });

  it('lets a change that loops or floods end by its limits', { timeout: 120_000 }, async () => {
    const ended = await house.call('slow', { n: 2 });
    const text = slow.replace("if (n === 1) return 'one';", 'JSON.stringify(n);');
    expect(await tryText(text, { name: 'slow', executionId: ended.executionId })).toMatchObject({ verdict: 'not-mended' });
    const flood = slow.replace('for (;;)', 'for (let i = 0; i < 2e5; i++) console.log(i); for (;;)');
    expect(await tryText(flood, { name: 'slow', executionId: ended.executionId })).toMatchObject({ verdict: 'not-mended' });
    expect(await tryText(slow.replace('for (;;)', ''), { name: 'slow', executionId: ended.executionId })).toMatchObject({
      verdict: 'mended',
    });
    expect(house.parts.plugins.get('slow').state).toBe('ready');
  });

  it('tries what never loaded: a sure change is asked for as if it had been saved, another waits for a person', async () => {
    const text = plain.replace("'plain',", "'broken',");
    expect(await tryText(text, { name: 'broken', isUnmeasured: true })).toMatchObject({
      verdict: 'mended',
      outcomes: { tools: 'not-tried' },
    });
    expect(await tryText('export default { nam', { name: 'broken', isUnmeasured: true })).toMatchObject({
      verdict: 'not-mended',
    });
  });

  it('touches no value, file or generation of anybody, and leaves nothing behind', async () => {
    const kept = house.parts.plugins.generations('names');
    const value = () => house.parts.store.kv.get(join(house.folder, 'plugins', 'names.ts'), 'local', 'asked');
    const before = value();
    const text = mended
      .replace(
        "kv.set('asked', list.length)",
        "kv.set('asked', list.length); await context.kv.set('left', 1); await context.files.write('lists/x', 'y')",
      )
      .replace('({ list }, { kv })', '({ list }, context, kv = context.kv)');
    const report = await tryText(text, { executionId: failedId });
    expect(report.outcomes).toMatchObject({ 'failing-call': 'passed', 'earlier-calls': 'failed' });
    report.candidate?.release();
    expect(value()).toBe(before);
    expect(house.parts.store.kv.get(join(house.folder, 'plugins', 'names.ts'), 'local', 'left')).toBeUndefined();
    expect(house.parts.plugins.generations('names')).toEqual(kept);
    const data = readdirSync(house.parts.config.dataDir, { recursive: true }).map(String);
    expect(data.filter((path) => path.includes('trial-') || path.endsWith('lists/x'))).toEqual([]);
    expect(readFileSync(join(house.folder, 'plugins', 'names.ts'), 'utf8')).toBe(names);
    expect((await house.call('first_name', { list: [{ name: 'Di' }] })).output).toBe('Di');
  });
});

describe('createTrialWorlds', () => {
  it('keeps the files of one run no longer than the run', async () => {
    const { config } = house.parts;
    const worlds = createTrialWorlds(config, { read: ['.'], write: ['.'] });
    const listFiles = () => readdirSync(config.dataDir, { recursive: true }).filter((path) => String(path).endsWith('a.txt'));
    for (const executionId of ['one', 'two']) {
      const world = worlds.open({ executionId, plugin: 'p', tool: 't', unitPath: '/p.ts', caller: 'local', session: 'local' });
      const request = { id: 1, op: 'files.write', payload: JSON.stringify({ path: 'a.txt', text: 'a' }) };
      expect(await world.answer(request, new AbortController().signal)).toMatchObject({ ok: true });
      expect(listFiles()).toHaveLength(1);
      await world.clear();
      expect(listFiles()).toEqual([]);
    }
    await worlds.close();
  });
});
