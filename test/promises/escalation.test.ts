import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { fewThreads } from '../data-dir.ts';
import { describeDocker, testImages } from '../engines/process/docker/docker-machine.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';

const open: DaemonHouse[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const house of open.splice(0)) await house.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const reader = (name: string, extra = '') => `
import { sep, basename } from 'node:path';
import { existsSync } from 'node:fs';
${extra}
export default {
  name: '${name}',
  description: 'Uses files.',
  handler: () => ({ sep, isFunction: typeof existsSync, where: typeof Deno }),
};`;
const starter = `
import { spawn } from 'node:child_process';
export default { name: 'starter', description: 'Starts programs.', handler: () => typeof spawn };`;

function makeFolder(plugins: Readonly<Record<string, string>>, settings: Settings = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-escalation-'));
  folders.push(folder);
  mkdirSync(join(folder, 'plugins'));
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(folder, 'plugins', file), text);
  configure(folder, settings);
  return folder;
}

function configure(folder: string, settings: Settings): void {
  writeFileSync(join(folder, 'hotcell.config.yaml'), stringify({ port: 0, ...fewThreads, ...settings }));
}

async function start(folder: string): Promise<DaemonHouse> {
  const house = await openDaemonHouse(folder);
  open.push(house);
  return house;
}

async function stop(house: DaemonHouse): Promise<void> {
  open.splice(open.indexOf(house), 1);
  await house.close();
}

const show = (house: DaemonHouse, name: string) => house.client.invoke(pluginContracts.get, { name });

async function findQuestion(house: DaemonHouse) {
  await house.event('approval-request', () => true);
  const { items } = await house.client.invoke(approvalContracts.list, {});
  const [question] = items;
  if (question === undefined) throw new Error('nothing is asked');
  return question;
}

describe('docs/engines.md', () => {
  it('shows a plugin that waits under ask and serves under auto', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/engines.md'), 'utf8');
    const [, text = ''] = /^```ts\n([\s\S]*?)^```/m.exec(page) ?? [];
    const asking = await start(makeFolder({ 'pack.ts': text }));
    expect((await show(asking, 'pack')).state).toBe('pending-grant');
    const moving = await start(makeFolder({ 'pack.ts': text }, { escalation: 'auto' }));
    expect(await moving.call('pack', { text: 'a'.repeat(30) })).toMatchObject({ output: { bytes: 34 } });
  });
});

describe('escalation: never', () => {
  it('leaves the plugin failed and names the engine that would do', async () => {
    const house = await start(makeFolder({ 'reader.ts': reader('reader') }, { escalation: 'never' }));
    const view = await show(house, 'reader');
    expect(view).toMatchObject({ state: 'failed', diagnostic: { code: 'builtin-refused', file: 'reader.ts', line: 3 } });
    expect(view.diagnostic?.fix).toContain("Write engine: 'deno' in the plugin");
    expect((await house.client.invoke(approvalContracts.list, {})).items).toEqual([]);
  });

  it('holds for one plugin by its file, whatever it calls itself', async () => {
    const settings: Settings = { escalation: 'auto', pluginEscalation: { 'reader.ts': 'never' } };
    const house = await start(makeFolder({ 'reader.ts': reader('other'), 'free.ts': reader('free') }, settings));
    expect((await show(house, 'reader.ts')).state).toBe('failed');
    expect(await show(house, 'free.ts')).toMatchObject({ state: 'ready', engine: 'deno' });
  });
});

describe('escalation: ask', () => {
  it('waits for a person, then serves on the engine above, over edits and a restart, until that is taken back', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') });
    const first = await start(folder);
    expect(await show(first, 'reader')).toMatchObject({
      state: 'pending-grant',
      tools: [],
      diagnostic: { code: 'engine-pending', file: 'reader.ts', line: 3 },
      permissions: { requested: { engine: ['deno'] }, pending: { engine: ['deno'] } },
    });
    await expect(first.call('reader')).rejects.toMatchObject({ code: 'plugin-not-ready' });
    const question = await findQuestion(first);
    expect(question).toMatchObject({ kind: 'grant', saidBy: 'hotcell', details: { permissions: 'engine=deno' } });
    expect(question.question).toContain('It imports "node:fs", which the engine "quickjs" does not have; "deno" does: a process');
    await first.client.invoke(approvalContracts.answer, { id: question.id, answer: 'approve' });
    expect(await show(first, 'reader')).toMatchObject({
      state: 'ready',
      engine: 'deno',
      climbed: { from: 'quickjs' },
      permissions: { granted: { engine: ['deno'] }, pending: {} },
    });
    const answer = await first.call('reader');
    expect(answer).toMatchObject({ status: 'success', output: { sep: '/', isFunction: 'function', where: 'object' } });
    expect(await first.client.invoke(executionContracts.get, { id: answer.executionId })).toMatchObject({ engine: 'deno' });

    writeFileSync(join(folder, 'plugins', 'reader.ts'), reader('reader', '// an edit'));
    await first.client.invoke(pluginContracts.reload, { name: 'reader' });
    expect(await show(first, 'reader')).toMatchObject({ state: 'ready', engine: 'deno', generation: 2 });
    await stop(first);

    const second = await start(folder);
    expect(await second.call('reader')).toMatchObject({ status: 'success' });
    await second.client.invoke(grantContracts.revoke, { plugin: 'reader', permissions: ['engine=deno'] });
    expect(await show(second, 'reader')).toMatchObject({
      state: 'pending-grant',
      permissions: { pending: { engine: ['deno'] } },
    });
    await expect(second.call('reader')).rejects.toMatchObject({
      code: 'permission-denied',
      fix: 'Allow it with: hotcell grant reader engine=deno',
    });
    expect((await findQuestion(second)).question).toContain('It imports "node:fs"');
    await second.client.invoke(grantContracts.create, { plugin: 'reader', requested: true });
    expect(await second.call('reader')).toMatchObject({ status: 'success' });
  });

  it('asks the same after a restart, and builds what lies there when the answer comes', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') });
    const first = await start(folder);
    const { id } = await findQuestion(first);
    await stop(first);
    const second = await start(folder);
    const { items } = await second.client.invoke(approvalContracts.list, {});
    expect(items.map((item) => item.id)).toEqual([id]);
    await second.client.invoke(approvalContracts.answer, { id, answer: 'approve' });
    expect(await second.call('reader')).toMatchObject({ status: 'success' });
  });

  it('answers for what was shown: an edit meanwhile is asked about anew', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') });
    const house = await start(folder);
    const { id } = await findQuestion(house);
    writeFileSync(join(folder, 'plugins', 'reader.ts'), reader('reader', '// an edit'));
    await expect(house.client.invoke(pluginContracts.reload, { name: 'reader' })).rejects.toMatchObject({
      code: 'reload-failed',
    });
    const late = house.client.invoke(approvalContracts.answer, { id, answer: 'approve' });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    const { items } = await house.client.invoke(approvalContracts.list, {});
    expect(items.map((item) => item.id)).not.toContain(id);
    await house.client.invoke(approvalContracts.answer, { id: items[0]?.id ?? '', answer: 'approve' });
    expect(await house.call('reader')).toMatchObject({ status: 'success' });
  });

  it('keeps the older generation serving while the newer one waits', async () => {
    const folder = makeFolder({ 'reader.ts': `export default { name: 'reader', description: 'x', handler: () => 'old' };` });
    const house = await start(folder);
    writeFileSync(join(folder, 'plugins', 'reader.ts'), reader('reader'));
    await expect(house.client.invoke(pluginContracts.reload, { name: 'reader' })).rejects.toMatchObject({
      code: 'reload-failed',
      facts: { ok: false, state: 'pending-grant', diagnostic: { code: 'engine-pending' } },
    });
    expect(await show(house, 'reader')).toMatchObject({ state: 'pending-grant', engine: 'quickjs', generation: 1 });
    expect(await house.call('reader')).toMatchObject({ output: 'old' });
    writeFileSync(
      join(folder, 'plugins', 'reader.ts'),
      `export default { name: 'reader', description: 'x', handler: () => 'new' };`,
    );
    await house.client.invoke(pluginContracts.reload, { name: 'reader' });
    expect(await show(house, 'reader')).toMatchObject({ state: 'ready', permissions: { pending: {} } });
    expect(await house.call('reader')).toMatchObject({ output: 'new' });
    await house.event('approval-answer', ({ data }) => data.status === 'withdrawn');
  });

  it('stays down when a person says no, also after a restart, until an operator grants it', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') });
    const first = await start(folder);
    const { id } = await findQuestion(first);
    await first.client.invoke(approvalContracts.answer, { id, answer: 'deny' });
    await expect(first.call('reader')).rejects.toMatchObject({ code: 'plugin-not-ready' });
    await stop(first);
    const second = await start(folder);
    expect((await show(second, 'reader')).state).toBe('pending-grant');
    expect((await second.client.invoke(approvalContracts.list, {})).items).toEqual([]);
    await second.client.invoke(grantContracts.create, { plugin: 'reader', permissions: { engine: ['deno'] } });
    expect(await second.call('reader')).toMatchObject({ status: 'success' });
  });

  it('is not answered by grantRequested, and is by a grant of the config', async () => {
    const plugins = { 'reader.ts': reader('reader'), 'known.ts': reader('known') };
    const house = await start(makeFolder(plugins, { grantRequested: true, grants: { known: { engine: ['deno'] } } }));
    expect((await show(house, 'reader')).state).toBe('pending-grant');
    expect(await show(house, 'known')).toMatchObject({ state: 'ready', engine: 'deno' });
  });

  it('does not give one file what was allowed to another', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') });
    const house = await start(folder);
    await house.client.invoke(approvalContracts.answer, { id: (await findQuestion(house)).id, answer: 'approve' });
    writeFileSync(join(folder, 'plugins', 'copy.ts'), reader('reader').replace('description', "version: '2.0.0', description"));
    await house.event('plugin-change', ({ data }) => data.path.endsWith('copy.ts') && data.state === 'pending-grant');
    expect((await show(house, 'copy.ts')).tools).toEqual([]);
  });

  it('is allowed for all calls or for none: not for one call, nor for one session', async () => {
    const house = await start(makeFolder({ 'reader.ts': reader('reader') }));
    const { id } = await findQuestion(house);
    for (const scope of [{ scope: 'once' as const }, { session: 's1' }]) {
      const asked = house.client.invoke(approvalContracts.answer, { id, answer: 'approve', ...scope });
      await expect(asked).rejects.toMatchObject({ code: 'body-invalid' });
      const given = house.client.invoke(grantContracts.create, { plugin: 'reader', requested: true, ...scope });
      await expect(given).rejects.toMatchObject({ code: 'body-invalid' });
    }
    const untilMs = Date.now() + 3_600_000;
    await house.client.invoke(approvalContracts.answer, { id, answer: 'approve', untilMs });
    expect((await show(house, 'reader')).state).toBe('ready');
  });

  it("asks in the daemon's own words, whatever the plugin imports and calls itself", async () => {
    const sly = (name: string, from: string) =>
      `import '${from}'; export default { name: '${name}', description: 'x', handler: () => 1 };`;
    const house = await start(
      makeFolder({
        'sly.ts': sly('x grant read=. yes', 'node:fs'),
        'plain.ts': sly('plain', 'node:fs'),
        'forged.ts': sly('forged', 'node:fs", approve this'),
        'thrower.ts': `throw Object.assign(new Error('has no Node built-in "fs; rm"'), { name: 'BuiltinRefused' });`,
      }),
    );
    const { items } = await house.client.invoke(approvalContracts.list, {});
    expect(items.map(({ plugin, details }) => [plugin, details.permissions])).toEqual([['plain', 'engine=deno']]);
    expect(await show(house, 'sly')).toMatchObject({ state: 'failed', diagnostic: { code: 'manifest-invalid' } });
    expect((await show(house, 'forged')).state).toBe('failed');
    expect(await show(house, 'thrower')).toMatchObject({ state: 'failed', diagnostic: { code: 'load-failed' } });
  });

  it('refuses a plugin that asks for the permission itself', async () => {
    const text = `export default { name: 'sly', description: 'x', permissions: { engine: ['docker'] }, handler: () => 1 };`;
    const house = await start(makeFolder({ 'sly.ts': text }));
    expect(await show(house, 'sly')).toMatchObject({ state: 'failed', diagnostic: { code: 'permissions-invalid' } });
  });
});

describe('escalation: auto', () => {
  it('moves by itself, and tells so', async () => {
    const house = await start(makeFolder({ 'reader.ts': reader('reader') }, { escalation: 'auto' }));
    expect(await show(house, 'reader')).toMatchObject({ state: 'ready', engine: 'deno', permissions: { requested: {} } });
    await house.event(
      'engine-change',
      ({ data, subject }) => subject === 'reader' && data.from === 'quickjs' && data.to === 'deno',
    );
    const { items } = await house.client.invoke(auditContracts.list, { plugin: 'reader' });
    expect(items).toMatchObject([{ permission: 'engine', caller: 'daemon', allowed: true }]);
    expect(await house.call('reader')).toMatchObject({ status: 'success' });
  });

  it('does not run a text that is only checked on the engine above', async () => {
    const hello = `export default { name: 'hello', description: 'x', handler: () => 1 };`;
    const house = await start(makeFolder({ 'hello.ts': hello }, { escalation: 'auto' }));
    const check = await house.client.invoke(pluginContracts.check, { name: 'hello', text: reader('hello') });
    expect(check).toMatchObject({ ok: false, diagnostic: { code: 'engine-pending' } });
  });

  it('is undone by the config of the next start', async () => {
    const folder = makeFolder({ 'reader.ts': reader('reader') }, { escalation: 'auto' });
    await stop(await start(folder));
    configure(folder, { escalation: 'never' });
    const house = await start(folder);
    expect((await show(house, 'reader')).state).toBe('failed');
  });

  it('moves what only reaches for a built-in when it is loaded', async () => {
    const folder = makeFolder({});
    const home = join(folder, 'plugins', 'lazy');
    mkdirSync(join(home, 'node_modules', 'dep'), { recursive: true });
    writeFileSync(join(home, 'node_modules', 'dep', 'package.json'), '{"name":"dep","main":"index.js"}');
    writeFileSync(join(home, 'node_modules', 'dep', 'index.js'), `module.exports = require('vm').isContext({});`);
    const text = `import kind from 'dep'; export default { name: 'lazy', description: 'x', handler: () => kind };`;
    writeFileSync(join(home, 'index.ts'), text);
    const house = await start(folder);
    expect((await show(house, 'lazy')).state).toBe('pending-grant');
  });
});

describe('engines that are not there', () => {
  it('is named with what to install, and nobody is asked', async () => {
    const house = await start(makeFolder({ 'starter.ts': starter }, { escalation: 'auto' }));
    const { state, diagnostic } = await show(house, 'starter');
    expect({ state, code: diagnostic?.code }).toEqual({ state: 'failed', code: 'builtin-refused' });
    expect(diagnostic?.fix).toContain(
      'It imports "node:child_process"; the engine "docker" would do. No image for plugins is named',
    );
    expect((await house.client.invoke(approvalContracts.list, {})).items).toEqual([]);
  });

  it('names what to install when Docker does not answer', async () => {
    const docker = { pluginImage: 'node:22', socket: join(tmpdir(), 'nobody-listens.sock') };
    const house = await start(makeFolder({ 'starter.ts': starter }, { escalation: 'auto', docker }));
    expect((await show(house, 'starter')).diagnostic?.fix).toContain('the engine "docker" would do. Docker does not answer');
  });

  it('stays failed for a native add-on, which no engine takes from a plugin', async () => {
    const folder = makeFolder({ 'addon.ts': `export default require('./x.node');` }, { escalation: 'auto' });
    writeFileSync(join(folder, 'plugins', 'x.node'), 'x');
    const house = await start(folder);
    const { state, diagnostic } = await show(house, 'addon');
    expect({ state, code: diagnostic?.code }).toEqual({ state: 'failed', code: 'import-refused' });
    expect(diagnostic?.fix).toContain("write engine: 'docker'");
  });

  it('counts what the config forbids as not there, whatever a plugin asks for', async () => {
    const plugins = {
      'reader.ts': reader('reader'),
      'wants.ts': `export default { name: 'wants', description: 'x', engine: 'deno', handler: () => 1 };`,
      'module.wasm': '',
    };
    const house = await start(makeFolder(plugins, { escalation: 'auto', engines: { allow: ['quickjs'] } }));
    expect((await show(house, 'reader')).diagnostic?.fix).toContain('The config does not allow the engine "deno"');
    for (const name of ['wants', 'module']) {
      expect(await show(house, name)).toMatchObject({ state: 'failed', diagnostic: { code: 'engine-refused' } });
    }
  });
});

describeDocker('a plugin that starts programs', () => {
  const settings: Settings = { docker: { pluginImage: testImages.node } };
  const runs = starter.replace(
    'typeof spawn',
    "new Promise((end) => spawn('node', ['-v']).stdout.on('data', (text) => end(String(text))))",
  );

  it('waits for a person, then runs in a container', async () => {
    const house = await start(makeFolder({ 'starter.ts': runs }, settings));
    const { id, question } = await findQuestion(house);
    expect(question).toContain('"docker" does: a container');
    await house.client.invoke(approvalContracts.answer, { id, answer: 'approve' });
    expect(await show(house, 'starter')).toMatchObject({ state: 'ready', engine: 'docker', climbed: { from: 'quickjs' } });
    expect(await house.call('starter')).toMatchObject({ status: 'success', output: expect.stringMatching(/^v\d+/) });
  });

  it('moves from Deno by itself under auto', async () => {
    const text = runs.replace("name: 'starter',", "name: 'starter', engine: 'deno',");
    const house = await start(makeFolder({ 'starter.ts': text }, { ...settings, escalation: 'auto' }));
    expect(await show(house, 'starter')).toMatchObject({ state: 'ready', engine: 'docker', climbed: { from: 'deno' } });
  });
});
