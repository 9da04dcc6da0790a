import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { useSharedParts } from './rig/shared-parts.ts';
import { answering, makeDeep, makeFolder, type Rig, startRig, textOf, until } from './rig/supervisor-rig.ts';

const shared = useSharedParts();

async function startWith(files: Readonly<Record<string, string>>, options: Parameters<typeof startRig>[1] = {}): Promise<Rig> {
  const home = options.home ?? makeFolder();
  makeDeep(home, 'plugins');
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(makeDeep(home, 'plugins', name, '..'), name.split('/').at(-1) ?? name), text);
  return startRig(shared.get(), { ...options, home });
}

const stateOf = (rig: Rig, name: string) => rig.supervisor.get(name).state;

function writeBeside(rig: Rig, text: string): string {
  const part = join(rig.home, 'part');
  writeFileSync(part, text);
  return part;
}

describe('a start with a build of the daemon other than the last', () => {
  it('serves what was kept until the same content is built anew', async () => {
    const first = await startWith({ 'hello.ts': answering('kept') }, { program: 'older' });
    await first.call('hello');
    await first.stop();
    const rig = await startRig(shared.get(), { home: first.home, program: 'newer' });
    expect(await rig.call('hello')).toBe('kept');
    expect(rig.supervisor.generations('hello').map(({ number }) => number)).toEqual([2, 1]);
    expect(rig.builds).toEqual({ compiled: 1, loaded: 1 });
    await rig.stop();
    const again = await startRig(shared.get(), { home: first.home, program: 'newer' });
    expect(again.builds).toEqual({ compiled: 0, loaded: 0 });
    expect(again.supervisor.get('hello')).toMatchObject({ state: 'ready', generation: 2 });
  });

  it('keeps serving it when the file does not build any more, and can roll back to it', async () => {
    const first = await startWith({ 'hello.ts': answering('good') }, { program: 'older' });
    await first.stop();
    writeFileSync(join(first.plugins, 'hello.ts'), 'export default {{');
    const rig = await startRig(shared.get(), { home: first.home, program: 'newer' });
    await until(() => stateOf(rig, 'hello') === 'degraded', 'the state');
    expect(await rig.call('hello')).toBe('good');
  });
});

describe('createSupervisor', () => {
  it('loads what lies in the folder at the start', async () => {
    const rig = await startWith({ 'hello.ts': answering('hi') });
    expect(await rig.call('hello')).toBe('hi');
    expect(rig.supervisor.list()).toMatchObject([{ name: 'hello', state: 'ready', generation: 1, path: 'plugins/hello.ts' }]);
  });

  it('creates a folder that is not there and loads what is dropped into it', async () => {
    const rig = await startRig(shared.get());
    writeFileSync(join(rig.plugins, 'hello.ts'), answering('one'));
    await until(() => rig.registry.list().length === 1, 'the tool');
    expect(await rig.call('hello')).toBe('one');
  });

  it('keeps the last good generation when an edit is broken, and says where', async () => {
    const rig = await startWith({ 'hello.ts': answering('good') });
    writeFileSync(join(rig.plugins, 'hello.ts'), 'export default {\n  handler: async () => {{,\n};\n');
    await until(() => stateOf(rig, 'hello') === 'degraded', 'the state');
    expect(await rig.call('hello')).toBe('good');
    expect(rig.supervisor.get('hello').diagnostic).toMatchObject({ code: 'compile-failed', line: 2 });
    expect(rig.events.find((event) => event.type === 'plugin-diagnostic')).toMatchObject({ subject: 'hello' });
    writeFileSync(join(rig.plugins, 'hello.ts'), answering('mended'));
    await until(async () => (await rig.call('hello')) === 'mended', 'the mended plugin');
    expect(rig.supervisor.get('hello').diagnostic).toBeUndefined();
    expect(rig.supervisor.why('hello').map(({ to }) => to)).toEqual(['loading', 'ready', 'degraded', 'ready']);
  });

  it('takes a broken edit back without a build when the good text returns', async () => {
    const rig = await startWith({ 'hello.ts': answering('good') });
    writeFileSync(join(rig.plugins, 'hello.ts'), 'export default {{');
    await until(() => stateOf(rig, 'hello') === 'degraded', 'the state');
    const before = { ...rig.builds };
    writeFileSync(join(rig.plugins, 'hello.ts'), answering('good'));
    await until(() => stateOf(rig, 'hello') === 'ready', 'the state');
    expect(rig.builds).toEqual(before);
    expect(rig.supervisor.get('hello').generation).toBe(1);
  });

  it('answers a reload with the truth', async () => {
    const rig = await startWith({ 'hello.ts': answering('one') });
    expect(await rig.supervisor.reload('hello')).toMatchObject({ ok: true, changed: false, generation: 1 });
    writeFileSync(join(rig.plugins, 'hello.ts'), answering('two'));
    expect(await rig.supervisor.reload('hello')).toMatchObject({ ok: true, generation: 2 });
    expect(await rig.call('hello')).toBe('two');
    writeFileSync(join(rig.plugins, 'hello.ts'), 'export default {{');
    expect(await rig.supervisor.reload('hello')).toMatchObject({
      ok: false,
      state: 'degraded',
      diagnostic: { code: 'compile-failed' },
    });
    unlinkSync(join(rig.plugins, 'hello.ts'));
    expect(await rig.supervisor.reload('hello')).toMatchObject({ ok: false, state: 'absent' });
  });

  it('names near plugins for one that does not exist', async () => {
    const rig = await startWith({ 'weather.ts': answering('sun') });
    expect(() => rig.supervisor.get('wether')).toThrow(/There is no plugin "wether". Did you mean "weather"/);
  });

  it('finds a plugin by name, version, file and path, and says which ones a name may mean', async () => {
    const rig = await startWith({
      'a.ts': answering('old', `name: 'tool', version: '1.0.0',`),
      'b.ts': answering('new', `name: 'tool', version: '1.10.0',`),
    });
    for (const name of ['tool', 'tool@1.0.0', 'a', 'a.ts', './a.ts', 'plugins/a.ts']) {
      expect(rig.supervisor.get(name)).toMatchObject({ name: 'tool', version: '1.0.0', path: 'plugins/a.ts' });
    }
    for (const name of ['b', 'b.ts', 'plugins/b.ts'])
      expect(rig.supervisor.get(name)).toMatchObject({ name: 'b', state: 'failed' });
    expect(await rig.call('tool@^1.0.0')).toBe('old');
    writeFileSync(join(rig.plugins, 'tool.ts'), answering('third', `name: 'other',`));
    await vi.waitFor(() => expect(rig.supervisor.get('other').state).toBe('ready'));
    expect(() => rig.supervisor.get('tool')).toThrow('"tool" is plugins/a.ts and plugins/tool.ts.');
  });

  it('withdraws a deleted plugin and forgets it', async () => {
    const rig = await startWith({ 'hello.ts': answering('hi') });
    unlinkSync(join(rig.plugins, 'hello.ts'));
    await until(() => rig.events.some((event) => event.type === 'plugin-removed'), 'the event');
    expect(rig.registry.list()).toEqual([]);
    expect(rig.supervisor.list()).toEqual([]);
    await rig.supervisor.close();
    expect(rig.store.plugins.list()).toEqual([]);
    const left = readdirSync(join(rig.home, 'data', 'generations'), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
  });

  it('reloads exactly the users of a shared helper', async () => {
    const rig = await startWith({
      '_words.ts': `export const word = 'one';\n`,
      'user.ts': `import { word } from './_words.ts';\nexport default { handler: async () => word };\n`,
      'other.ts': answering('other'),
    });
    writeFileSync(join(rig.plugins, '_words.ts'), `export const word = 'two';\n`);
    await until(async () => (await rig.call('user')) === 'two', 'the new word');
    expect(rig.supervisor.get('user').generation).toBe(2);
    expect(rig.supervisor.get('other').generation).toBe(1);
    expect(rig.supervisor.list().map(({ name }) => name)).toEqual(['other', 'user']);
  });

  it('mends itself when the missing import appears', async () => {
    const rig = await startWith({
      'user.ts': `import { word } from './_lib/words.ts';\nexport default { handler: async () => word };\n`,
    });
    expect(rig.supervisor.get('user')).toMatchObject({ state: 'failed', diagnostic: { code: 'import-unresolved' } });
    mkdirSync(join(rig.plugins, '_lib'));
    writeFileSync(join(rig.plugins, '_lib', 'words.ts'), `export const word = 'here';\n`);
    await until(() => stateOf(rig, 'user') === 'ready', 'the plugin');
    expect(await rig.call('user')).toBe('here');
  });

  it('fails once over a package that is there but lacks what is imported, and mends itself when the package does', async () => {
    const rig = await startWith({ 'hello.ts': answering('hi') });
    const entry = join(rig.plugins, 'user', 'index.ts');
    const packageDir = join(rig.plugins, 'user', 'node_modules', 'words');
    mkdirSync(packageDir, { recursive: true });
    writeFileSync(join(packageDir, 'package.json'), '{ "exports": {} }');
    writeFileSync(entry, `import { word } from 'words';\nexport default { handler: async () => word };\n`);
    const hasFailed = () => rig.supervisor.list().some(({ name, state }) => name === 'user' && state === 'failed');
    await until(hasFailed, 'the failure');
    // A save of the same text is looked at like any other, and comes to the same end.
    const { compiled } = rig.builds;
    writeFileSync(entry, textOf(entry));
    await rig.supervisor.reload('hello');
    await until(hasFailed, 'the failure again');
    expect(rig.builds.compiled).toBeLessThan(compiled + 4);
    writeFileSync(join(packageDir, 'words.js'), `export const word = 'here';\n`);
    writeFileSync(join(packageDir, 'package.json'), '{ "exports": "./words.js" }');
    expect(await rig.supervisor.reload('user')).toMatchObject({ ok: true });
    expect(await rig.call('user')).toBe('here');
  });

  it('loads folders with an index and leaves all else alone', async () => {
    const rig = await startWith({
      'folder/index.ts': `import { word } from './part.ts';\nexport default { handler: async () => word };\n`,
      'folder/part.ts': `export const word = 'part';\n`,
      'helpers/words.ts': `export const word = 'x';\n`,
      'types.d.ts': 'export type X = 1;\n',
      'hello.test.ts': answering('no'),
      '.hidden.ts': answering('no'),
      'hello.ts~': answering('no'),
      '4913': 'x',
    });
    execFileSync('mkfifo', [join(rig.plugins, 'pipe.ts')]);
    symlinkSync('/dev/zero', join(rig.plugins, 'zero.ts'));
    symlinkSync('nowhere.ts', join(rig.plugins, 'dangling.ts'));
    writeFileSync(join(rig.plugins, 'last.ts'), answering('last'));
    await until(() => rig.registry.list().length === 2, 'the last file');
    expect(rig.supervisor.list().map(({ name }) => name)).toEqual(['folder', 'last']);
    expect(await rig.call('folder')).toBe('part');
  });

  it('neither compiles nor loads after a restart with an unchanged folder', async () => {
    const first = await startWith({ 'a.ts': answering('a'), 'b.ts': answering('b') });
    await first.stop();
    const second = await startWith({}, { home: first.home });
    expect(second.builds).toEqual({ compiled: 0, loaded: 0 });
    expect(second.supervisor.list()).toMatchObject([
      { name: 'a', state: 'ready', generation: 1 },
      { name: 'b', state: 'ready', generation: 1 },
    ]);
    expect(await second.call('b')).toBe('b');
    expect(second.events.filter((event) => event.type === 'plugin-change')).toEqual([]);
  });

  it('takes in what was written and forgets what was deleted while it was down', async () => {
    const first = await startWith({ 'a.ts': answering('a'), 'b.ts': answering('b'), 'c.ts': answering('c') });
    await first.stop();
    writeFileSync(join(first.plugins, 'a.ts'), answering('changed'));
    unlinkSync(join(first.plugins, 'b.ts'));
    writeFileSync(join(first.plugins, 'd.ts'), answering('d'));
    const second = await startWith({}, { home: first.home });
    expect(second.builds.compiled).toBe(2);
    expect(second.supervisor.list().map(({ name, generation }) => [name, generation])).toEqual([
      ['a', 2],
      ['c', 1],
      ['d', 1],
    ]);
    expect(await second.call('a')).toBe('changed');
  });

  it('serves the last good generation after a restart over a broken file', async () => {
    const first = await startWith({ 'a.ts': answering('good') });
    await first.stop();
    writeFileSync(join(first.plugins, 'a.ts'), 'export default {{');
    const second = await startWith({}, { home: first.home });
    expect(second.supervisor.get('a')).toMatchObject({ state: 'degraded', generation: 1 });
    expect(await second.call('a')).toBe('good');
  });

  it('does not take a broken file for the good one after it was saved again and the daemon restarted', async () => {
    const first = await startWith({ 'a.ts': answering('good') });
    for (const times of [1, 2]) {
      renameSync(writeBeside(first, 'export default {{'), join(first.plugins, 'a.ts'));
      await until(() => stateOf(first, 'a') === 'degraded', `the state, for time ${times}`);
      await first.supervisor.reloadAll();
    }
    await first.stop();
    const second = await startWith({}, { home: first.home });
    expect(second.supervisor.get('a')).toMatchObject({ state: 'degraded', generation: 1 });
  });

  it('rolls back at once and stays there over a restart until the next save', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    writeFileSync(join(rig.plugins, 'a.ts'), answering('two'));
    await rig.supervisor.reload('a');
    const before = { ...rig.builds };
    expect(await rig.supervisor.rollback('a')).toMatchObject({ ok: true, generation: 1 });
    expect(await rig.call('a')).toBe('one');
    expect(rig.supervisor.generations('a').map(({ number, current }) => [number, current])).toEqual([
      [2, false],
      [1, true],
    ]);
    await rig.supervisor.reloadAll();
    expect(rig.builds).toEqual(before);
    await rig.stop();
    const second = await startWith({}, { home: rig.home });
    expect(second.builds.compiled).toBe(0);
    expect(await second.call('a')).toBe('one');
    writeFileSync(join(rig.plugins, 'a.ts'), answering('three'));
    await until(async () => (await second.call('a')) === 'three', 'the saved text');
    expect(second.supervisor.get('a').generation).toBe(3);
  });

  it('gives the content of the folder back when a person reloads after a rollback', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    writeFileSync(join(rig.plugins, 'a.ts'), answering('two'));
    await rig.supervisor.reload('a');
    await rig.supervisor.rollback('a', 1);
    expect(await rig.supervisor.reload('a')).toMatchObject({ ok: true, changed: true, generation: 2 });
    await expect(rig.supervisor.rollback('a', 7)).rejects.toMatchObject({
      message: expect.stringContaining('has no generation 7; kept are: 2, 1'),
      fix: 'See hotcell plugin history a.',
    });
  });

  it('ends a rollback when the same content is saved again, also while the daemon is down, not by a new mode', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    const file = join(rig.plugins, 'a.ts');
    writeFileSync(file, answering('two'));
    await rig.supervisor.reload('a');
    await rig.supervisor.rollback('a');
    chmodSync(file, 0o600);
    await rig.stop();
    const second = await startWith({}, { home: rig.home });
    expect(await second.call('a')).toBe('one');
    writeFileSync(file, answering('two'));
    await until(async () => (await second.call('a')) === 'two', 'the saved text');
    expect(second.builds.compiled).toBe(0);
    await second.supervisor.rollback('a');
    await second.stop();
    writeFileSync(file, answering('two'));
    const third = await startWith({}, { home: rig.home });
    expect(await third.call('a')).toBe('two');
    expect(third.supervisor.get('a').generation).toBe(2);
  });

  it('keeps as many generations as it was told', async () => {
    const rig = await startWith({ 'a.ts': answering('0') }, { keep: 2 });
    for (const text of ['1', '2', '3', '4']) {
      writeFileSync(join(rig.plugins, 'a.ts'), answering(text));
      await rig.supervisor.reload('a');
    }
    const numbers = () => rig.supervisor.generations('a').map(({ number }) => number);
    await until(() => numbers().length === 3, 'the deletion');
    expect(numbers()).toEqual([5, 4, 3]);
  });

  it('keeps the files and the cells of a generation for a call that waits for a person', async () => {
    const needed = new Set<string>();
    const rig = await startWith({ 'a.ts': answering('0') }, { keep: 1, needsGeneration: (id) => needed.has(id) });
    const { unit } = rig.registry.resolve('a').served;
    needed.add(unit.id);
    const discard = vi.spyOn(shared.get().engine, 'discard');
    onTestFinished(() => discard.mockRestore());
    for (const text of ['1', '2', '3']) {
      writeFileSync(join(rig.plugins, 'a.ts'), answering(text));
      await rig.supervisor.reload('a');
    }
    const numbers = () => rig.supervisor.generations('a').map(({ number }) => number);
    await until(() => !numbers().includes(2), 'the deletion');
    expect(numbers()).toEqual([4, 3, 1]);
    const forgotten = discard.mock.calls.map(([{ programKey }]) => programKey);
    expect(forgotten).toHaveLength(2);
    expect(unit.runner.by === 'engine' && forgotten.includes(unit.runner.program.key)).toBe(false);
  });

  it('lets the first path have a name where both are new and names both files for the second', async () => {
    const rig = await startWith({ 'a.ts': answering('first', `name: 'same',`), 'b.ts': answering('second', `name: 'same',`) });
    await until(() => rig.supervisor.list().some(({ state }) => state === 'failed'), 'the loser');
    expect(await rig.call('same')).toBe('first');
    const diagnostic = rig.supervisor.get('b.ts').diagnostic;
    expect(diagnostic?.code).toBe('tool-duplicate');
    expect(diagnostic?.message).toContain('plugins/a.ts');
    expect(diagnostic?.message).toContain('plugins/b.ts');
    unlinkSync(join(rig.plugins, 'a.ts'));
    await until(() => stateOf(rig, 'b.ts') === 'ready', 'the second');
    expect(await rig.call('same')).toBe('second');
    writeFileSync(join(rig.plugins, 'a.ts'), answering('back', `name: 'same',`));
    const isSecond = () => rig.supervisor.list().some(({ path, state }) => path === 'plugins/a.ts' && state === 'failed');
    await until(isSecond, 'the first, which comes later now');
    expect(await rig.call('same')).toBe('second');
  });

  it('keeps a plugin switched off over a restart, and switches it on without a build', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    expect(await rig.supervisor.setEnabled('a', false)).toMatchObject({ state: 'disabled', tools: [] });
    expect(() => rig.registry.resolve('a')).toThrow();
    writeFileSync(join(rig.plugins, 'a.ts'), answering('one'));
    await rig.stop();
    const second = await startWith({}, { home: rig.home });
    expect(stateOf(second, 'a')).toBe('disabled');
    expect(await second.supervisor.setEnabled('a', true)).toMatchObject({ state: 'ready', generation: 1 });
    expect(second.builds.compiled).toBe(0);
    expect(await second.call('a')).toBe('one');
  });

  it('lists plugins as disabled in safe mode, and changes nothing that is remembered', async () => {
    const first = await startWith({ 'a.ts': answering('one') });
    await first.stop();
    const safe = await startWith({}, { home: first.home, safe: true });
    expect(safe.supervisor.get('a')).toMatchObject({ state: 'disabled', tools: [] });
    expect(safe.supervisor.why('a').at(-1)?.reason).toContain('safe mode');
    const told = safe.supervisor.why('a').length;
    expect(await safe.supervisor.setEnabled('a', true)).toMatchObject({ state: 'disabled' });
    const why = safe.supervisor.why('a').slice(told);
    expect(why).toMatchObject([{ from: 'disabled', to: 'disabled', reason: expect.stringContaining('safe mode') }]);
    await safe.stop();
    const third = await startWith({}, { home: first.home });
    expect(await third.call('a')).toBe('one');
    expect(third.builds.compiled).toBe(0);
  });

  it('keeps the older generation while a newer one waits for a grant', async () => {
    const rig = await startWith({ 'a.ts': answering('modest') });
    writeFileSync(join(rig.plugins, 'a.ts'), answering('greedy', `permissions: { net: ['example.com'] },`));
    expect(await rig.supervisor.reload('a')).toMatchObject({ ok: true, state: 'pending-grant', generation: 1 });
    expect(await rig.call('a')).toBe('modest');
    expect(rig.supervisor.get('a').permissions).toMatchObject({ pending: { net: ['example.com'] }, granted: {} });
    rig.grants = { net: ['example.com'] };
    await rig.supervisor.units.refreshGrants();
    expect(rig.supervisor.get('a')).toMatchObject({ state: 'ready', generation: 2 });
    expect(await rig.call('a')).toBe('greedy');
  });

  it('publishes a plugin that waits for a grant when there is no older one', async () => {
    const rig = await startWith({ 'a.ts': answering('greedy', `permissions: { net: ['example.com'] },`) });
    expect(stateOf(rig, 'a')).toBe('pending-grant');
    expect(await rig.call('a')).toBe('greedy');
  });

  it('quarantines a plugin whose cells are killed again and again, until its content changes', async () => {
    const rig = await startWith({ 'a.ts': answering('bad') });
    for (let kill = 0; kill < 5; kill += 1) rig.supervisor.noteKill('a', 'time-exceeded');
    await until(() => stateOf(rig, 'a') === 'quarantined', 'the quarantine');
    expect(() => rig.registry.resolve('a')).toThrow();
    expect(rig.supervisor.why('a').at(-1)?.reason).toContain('killed 5 times');
    await rig.stop();
    const second = await startWith({}, { home: rig.home });
    expect(stateOf(second, 'a')).toBe('quarantined');
    writeFileSync(join(rig.plugins, 'a.ts'), answering('good'));
    await until(() => stateOf(second, 'a') === 'ready', 'the new content');
    expect(await second.call('a')).toBe('good');
  });

  it('keeps serving when the whole folder goes away, says so, and picks it up again', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    renameSync(rig.plugins, join(rig.home, 'elsewhere'));
    await until(() => rig.events.some((event) => event.type === 'watch-problem'), 'the event');
    expect(await rig.call('a')).toBe('one');
    writeFileSync(join(rig.home, 'elsewhere', 'a.ts'), answering('two'));
    renameSync(join(rig.home, 'elsewhere'), rig.plugins);
    await until(async () => (await rig.call('a')) === 'two', 'the folder');
    writeFileSync(join(rig.plugins, 'b.ts'), answering('b'));
    await until(() => rig.registry.list().length === 2, 'a new file in the folder');
  });

  it('serves from memory when generations cannot be saved, and says so', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    await until(() => existsSync(join(rig.home, 'data', 'generations')), 'the first save');
    await rig.supervisor.reload('a');
    rmSync(join(rig.home, 'data', 'generations'), { recursive: true });
    writeFileSync(join(rig.home, 'data', 'generations'), 'in the way');
    writeFileSync(join(rig.plugins, 'a.ts'), answering('two'));
    await until(() => rig.events.some((event) => event.type === 'storage-problem'), 'the event');
    await until(async () => (await rig.call('a')) === 'two', 'the new content');
  });

  it('builds again what the disk has lost', async () => {
    const first = await startWith({ 'a.ts': answering('one') });
    await first.stop();
    rmSync(join(first.home, 'data', 'generations'), { recursive: true });
    const engineOfItsOwn = await startWith({}, { home: first.home });
    const { runner } = engineOfItsOwn.registry.resolve('a').served.unit;
    if (runner.by !== 'engine') throw new Error('an engine runs plugins');
    const { program } = runner;
    expect(await program.readCode()).toContain('__hotcellExports');
    expect(await program.readImage()).toBeUndefined();
  });

  it('reads and writes the source, and does not overwrite what somebody else wrote', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    expect(await rig.supervisor.readSource('a')).toEqual({ file: 'plugins/a.ts', text: answering('one') });
    expect(await rig.supervisor.writeSource('a', answering('two'), { by: 'local' })).toMatchObject({ ok: true, generation: 2 });
    const onTopOf = { by: 'local', expectedHash: '0'.repeat(64) };
    await expect(rig.supervisor.writeSource('a', answering('three'), onTopOf)).rejects.toThrow(/was changed since/);
    expect(textOf(join(rig.plugins, 'a.ts'))).toBe(answering('two'));
    expect(readdirSync(rig.plugins)).toEqual(['a.ts']);
  });

  it('removes a plugin with its folder', async () => {
    const rig = await startWith({ 'a/index.ts': answering('one'), 'b.ts': answering('b') });
    await rig.supervisor.remove('a');
    expect(rig.supervisor.list().map(({ name }) => name)).toEqual(['b']);
    expect(readdirSync(rig.plugins)).toEqual(['b.ts']);
  });

  it('tells once what changed among the tools', async () => {
    const rig = await startWith({ 'a.ts': answering('a'), 'b.ts': answering('b') });
    const news = () => rig.events.filter((event) => event.type === 'tools-change').map((event) => event.data);
    await until(() => news().flatMap(({ added }) => added).length === 2, 'the start');
    const told = news().length;
    writeFileSync(join(rig.plugins, 'a.ts'), answering('a2'));
    await until(() => news().length === told + 1, 'the change');
    unlinkSync(join(rig.plugins, 'b.ts'));
    await until(() => news().length === told + 2, 'the removal');
    expect(news().slice(told)).toEqual([
      { added: [], removed: [], changed: ['a@0.0.0'] },
      { added: [], removed: ['b@0.0.0'], changed: [] },
    ]);
  });

  it('finishes calls in flight on the old generation and then lets it go', async () => {
    const rig = await startWith({ 'a.ts': answering('one') }, { drainMs: 20 });
    const old = rig.registry.resolve('a').served;
    const release = old.lease();
    writeFileSync(join(rig.plugins, 'a.ts'), answering('two'));
    await rig.supervisor.reload('a');
    expect(rig.registry.resolve('a').served).not.toBe(old);
    await until(() => {
      try {
        old.lease()();
        return false;
      } catch {
        return true;
      }
    }, 'the drain deadline');
    expect(() => old.lease()).toThrow(/Generation 1 of "a@0.0.0" was replaced/);
    release();
  });

  it('finds the generation behind an execution after it was replaced', async () => {
    const rig = await startWith({ 'a.ts': answering('one') });
    const { id } = rig.registry.resolve('a').served.unit;
    writeFileSync(join(rig.plugins, 'a.ts'), answering('two'));
    await rig.supervisor.reload('a');
    expect(rig.supervisor.findGeneration(id)).toMatchObject({ number: 1, manifest: { name: 'a' } });
    expect(await rig.supervisor.readArtifacts(id)).toMatchObject({ sources: [{ path: 'a.ts', text: answering('one') }] });
    expect(rig.supervisor.findGeneration('gen_unknown')).toBeUndefined();
  });
});
