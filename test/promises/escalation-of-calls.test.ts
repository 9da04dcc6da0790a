import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Settings } from '../../src/config/schema.ts';
import { approvalContracts } from '../../src/operations/contracts/access/approvals.ts';
import { auditContracts } from '../../src/operations/contracts/access/audit.ts';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { fewThreads } from '../data-dir.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';

const open: DaemonHouse[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const house of open.splice(0)) await house.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start(plugins: Readonly<Record<string, string>>, settings: Settings = {}): Promise<DaemonHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-escalation-'));
  folders.push(folder);
  mkdirSync(join(folder, 'plugins'));
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(folder, 'plugins', file), text);
  const config = stringify({ port: 0, escalation: 'auto', grantRequested: true, ...fewThreads, ...settings });
  writeFileSync(join(folder, 'hotcell.config.yaml'), config);
  const house = await openDaemonHouse(folder);
  open.push(house);
  return house;
}

/** Spins for ever in QuickJS, and returns at once where the code is compiled to machine code. */
const spinner = (facts: string, first = '') => `
export default {
  name: 'spinner', description: 'Uses the processor.', limits: { cpuMs: 300 }, ${facts}
  handler: async (args: {}, context) => {
    ${first}
    while (typeof Deno === 'undefined') {}
    return 'done by ' + typeof Deno;
  },
};`;

const hog = `
export default {
  name: 'hog', description: 'Uses memory.', idempotent: true, limits: { memoryBytes: 8388608 },
  handler: () => {
    const kept: unknown[] = [];
    while (typeof Deno === 'undefined') kept.push({ text: 'x'.repeat(1000) + kept.length });
    return 'enough';
  },
};`;

const suggestion = 'The engine "deno" needs less time on the processor for the same work';

describe('a call that used up what it may have, under escalation: auto', () => {
  it('is run again on the engine above when the tool is idempotent, and says so everywhere', async () => {
    const house = await start({ 'spinner.ts': spinner('idempotent: true,') });
    const answer = await house.call('spinner');
    expect(answer).toMatchObject({
      status: 'success',
      output: 'done by object',
      climbed: { from: 'quickjs', to: 'deno', reason: expect.stringContaining('limit of processor time') },
    });
    const { executionId: id } = answer;
    expect(await house.client.invoke(executionContracts.get, { id })).toMatchObject({ attempts: 2, engine: 'deno' });
    await house.event('engine-change', ({ data, subject }) => subject === 'spinner' && data.execution === id);
    const { items } = await house.client.invoke(auditContracts.list, { plugin: 'spinner' });
    expect(items).toMatchObject([{ permission: 'engine', execution: id, tool: 'spinner', allowed: true }]);
    // The plugin itself stays where it is.
    expect(await house.client.invoke(pluginContracts.get, { name: 'spinner' })).toMatchObject({ engine: 'quickjs' });
  });

  it('is run again when its memory is used up', async () => {
    const house = await start({ 'hog.ts': hog });
    expect(await house.call('hog')).toMatchObject({ status: 'success', output: 'enough', climbed: { to: 'deno' } });
  });

  it('is run again once: what fails there fails with its place in the file', async () => {
    const text = spinner('idempotent: true,').replace("return 'done", "throw new Error('above'); return 'done");
    const house = await start({ 'spinner.ts': text });
    const answer = await house.call('spinner');
    expect(answer).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', message: expect.stringContaining('above') },
    });
    expect(answer.error?.frames?.[0]).toMatchObject({ file: 'spinner.ts', line: 7 });
    expect(await house.client.invoke(executionContracts.get, { id: answer.executionId })).toMatchObject({ attempts: 2 });
  });

  it('keeps its limits there', async () => {
    const text = spinner('idempotent: true,').replace("typeof Deno === 'undefined'", 'true');
    const house = await start({ 'spinner.ts': text });
    expect(await house.call('spinner')).toMatchObject({
      status: 'timeout',
      error: { code: 'time-exceeded' },
      climbed: { to: 'deno' },
    });
  });

  it.each([
    ['tools that are not idempotent', spinner(''), 'only calls of tools marked idempotent are run again'],
    [
      'calls with effects',
      spinner('idempotent: true, permissions: { kv: true },', "await context.kv.set('k', 1);"),
      'this call had effects already',
    ],
    ['cells that belong to a session', spinner("idempotent: true, isolation: 'session',"), 'its cell belongs to the session'],
  ])('is not run again for %s, and its next step says why', async (_what, text, why) => {
    const house = await start({ 'spinner.ts': text });
    const answer = await house.call('spinner');
    expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(answer.error?.fix).toContain(`${suggestion}; ${why}`);
    expect(answer).not.toHaveProperty('climbed');
    expect(await house.client.invoke(executionContracts.get, { id: answer.executionId })).toMatchObject({ attempts: 1 });
  });

  it('is run again after it only read', async () => {
    const text = spinner('idempotent: true, permissions: { kv: true },', "await context.kv.get('k');");
    const house = await start({ 'spinner.ts': text });
    expect(await house.call('spinner')).toMatchObject({ status: 'success', climbed: { to: 'deno' } });
  });

  it('is not run again from other content than it began with', async () => {
    const house = await start({ 'spinner.ts': spinner('idempotent: true,').replace('cpuMs: 300', 'cpuMs: 1500') });
    const answer = house.call('spinner');
    await house.event('execution-start', () => true);
    const edited = spinner('idempotent: true,').replace('done by', 'another');
    writeFileSync(join(house.pluginDir, 'spinner.ts'), edited);
    await house.event('plugin-change', ({ data }) => data.generation === 2);
    expect(await answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(await house.call('spinner')).toMatchObject({ output: 'another object' });
  });

  it('is run again where a built-in is there that it only reached for when it ran', async () => {
    const house = await start({});
    const home = join(house.pluginDir, 'lazy');
    mkdirSync(join(home, 'node_modules', 'dep'), { recursive: true });
    writeFileSync(join(home, 'node_modules', 'dep', 'package.json'), '{"name":"dep","main":"index.js"}');
    writeFileSync(join(home, 'node_modules', 'dep', 'index.js'), `exports.ask = () => require('vm').isContext({});`);
    const text = `import { ask } from 'dep'; export default { name: 'lazy', description: 'x', idempotent: true, handler: () => ask() };`;
    writeFileSync(join(home, 'index.ts'), text);
    await house.event('plugin-change', ({ data }) => data.state === 'ready');
    expect(await house.call('lazy')).toMatchObject({ output: false, climbed: { to: 'deno' } });
  });
});

describe('a call that reached for what its engine lacks, under ask', () => {
  const dials = `export default { name: 'dials', description: 'x', handler: async () => { try { new WebSocket('ws://a.example'); } catch (error) { if (error.name === 'ReferenceError') throw error; return 'there'; } return 'there'; } };`;

  it('asks for the engine once, serves on, and runs there after the grant, over an edit too', async () => {
    const house = await start({ 'dials.ts': dials }, { escalation: 'ask' });
    const refused = await house.call('dials');
    expect(refused.error?.fix).toMatch(/the global "WebSocket".*"deno" does.*hotcell grant dials engine=deno/s);
    const waiting = await house.client.invoke(pluginContracts.get, { name: 'dials' });
    expect(waiting).toMatchObject({ state: 'pending-grant', engine: 'quickjs', permissions: { pending: { engine: ['deno'] } } });
    expect((await house.call('dials')).error?.name).toBe('ReferenceError');
    await house.client.invoke(grantContracts.create, { plugin: 'dials', requested: true });
    expect(await house.client.invoke(pluginContracts.get, { name: 'dials' })).toMatchObject({ state: 'ready', engine: 'deno' });
    expect(await house.call('dials')).toMatchObject({ output: 'there' });
    writeFileSync(join(house.pluginDir, 'dials.ts'), dials.replace("return 'there'; } };", "return 'still'; } };"));
    await house.client.invoke(pluginContracts.reload, { name: 'dials' });
    expect(await house.client.invoke(pluginContracts.get, { name: 'dials' })).toMatchObject({ state: 'ready', engine: 'deno' });
  });
});

describe('a call that used up what it may have, under ask and never', () => {
  it.each(['ask', 'never'] as const)(
    'ends under %s, with the suggestion in its next step and in its record',
    async (escalation) => {
      const house = await start({ 'spinner.ts': spinner('idempotent: true,') }, { escalation });
      const answer = await house.call('spinner');
      expect(answer).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
      expect(answer.error?.fix).toContain(`${suggestion}; calls move by themselves only with escalation: auto`);
      const { error, engine } = await house.client.invoke(executionContracts.get, { id: answer.executionId });
      expect({ fix: error?.fix, engine }).toEqual({ fix: answer.error?.fix, engine: 'quickjs' });
      expect((await house.client.invoke(approvalContracts.list, {})).items).toEqual([]);
    },
  );

  it('suggests nothing where the config allows no engine above', async () => {
    const house = await start({ 'spinner.ts': spinner('idempotent: true,') }, { engines: { allow: ['quickjs'] } });
    const answer = await house.call('spinner');
    expect(answer.error?.fix).toBe('Do less, or raise timeoutMs or limits.cpuMs.');
  });
});

describe('the tool list', () => {
  it('is the same whatever engine runs a tool', async () => {
    const text = `import { existsSync } from 'node:fs'; export default { name: 'reader', description: 'x', handler: (args: { path: string }) => existsSync(args.path) };`;
    const house = await start({ 'reader.ts': text });
    const { items } = await house.client.invoke(toolContracts.list, { q: 'reader' });
    expect(items).toMatchObject([{ name: 'reader', input: { properties: { path: { type: 'string' } }, required: ['path'] } }]);
    // No file of the host was granted, so there is none to be seen.
    const answer = await house.call('reader', { path: '/etc/passwd' });
    expect(answer).toMatchObject({ status: 'error', error: { name: 'NotCapable' } });
  });
});
