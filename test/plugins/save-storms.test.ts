import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { answerIn, pass, savePatterns } from './rig/save-patterns.ts';
import { useSharedParts } from './rig/shared-parts.ts';
import { type AtEnd, answering, makeDeep, makeFolder, type Rig, startRig, until } from './rig/supervisor-rig.ts';

const shared = useSharedParts();
// The large numbers: `npm run test:long storms`.
const saves = process.env.HOTCELL_LONG ? 200 : 50;
const files = process.env.HOTCELL_LONG ? 300 : 50;

async function startWithFile(atEnd: AtEnd, name: string, text: string): Promise<{ rig: Rig; file: string }> {
  const home = makeFolder(atEnd);
  const file = join(makeDeep(home, 'plugins', name, '..'), name.split('/').at(-1) ?? name);
  writeFileSync(file, text);
  return { rig: await startRig(shared.get(), { home, atEnd }), file };
}

const generationOf = (rig: Rig, name: string) => rig.supervisor.get(name).generation;

/** Everything that has an end has ended: nothing is looked at any more without a new hint. */
const quiet = () => pass(600);

// Every test has a folder and a supervisor of its own, and waits for silence most of its time: they run beside each other.
describe.concurrent('a save', () => {
  for (const [name, save] of Object.entries(savePatterns)) {
    it(`is live after ${name}`, async ({ expect, onTestFinished: atEnd }) => {
      const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
      await save(file, answering('behind'));
      await until(async () => (await rig.call('tool')) === answerIn(file), 'the text in the file');
      await quiet();
      expect(await rig.call('tool')).toBe(answerIn(file));
      expect(rig.supervisor.get('tool').state).toBe('ready');
      expect(generationOf(rig, 'tool')).toBe(2);
      expect(rig.events.filter((event) => event.type === 'plugin-diagnostic')).toEqual([]);
      expect(rig.supervisor.list()).toHaveLength(1);
    });

    it(`is live after ${name}, twice in a row`, async ({ expect, onTestFinished: atEnd }) => {
      const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
      await save(file, answering('behind'));
      await pass(8);
      await savePatterns['write to a temporary file, then rename']?.(file, answering('beyond'));
      await until(async () => (await rig.call('tool')) === 'beyond', 'the last text');
      await quiet();
      expect(await rig.call('tool')).toBe('beyond');
      expect(rig.supervisor.get('tool')).toMatchObject({ state: 'ready' });
    });
  }

  it('of the same content builds nothing', async ({ expect, onTestFinished: atEnd }) => {
    const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
    const before = { ...rig.builds };
    writeFileSync(file, answering('before'));
    utimesSync(file, 1_000_000_000, 1_000_000_000);
    savePatterns['write to a temporary file, then rename']?.(file, answering('before'));
    await quiet();
    expect(rig.builds).toEqual(before);
    expect(generationOf(rig, 'tool')).toBe(1);
  });

  it('is live in a folder that is moved away and back', async ({ onTestFinished: atEnd }) => {
    const { rig, file } = await startWithFile(atEnd, 'tool/index.ts', answering('before'));
    const folder = join(rig.plugins, 'tool');
    renameSync(folder, join(rig.home, 'away'));
    writeFileSync(join(rig.home, 'away', 'index.ts'), answering('behind'));
    renameSync(join(rig.home, 'away'), folder);
    await until(async () => (await rig.call('tool')) === answerIn(file), 'the text in the file');
    writeFileSync(file, answering('beyond'));
    await until(async () => (await rig.call('tool')) === 'beyond', 'the next save');
  });

  it(`is live when ${saves} come within a second, in place`, async ({ expect, onTestFinished: atEnd }) => {
    const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
    for (let save = 1; save <= saves; save += 1) {
      writeFileSync(file, answering(`save ${save}`));
      await pass(4);
    }
    await until(async () => (await rig.call('tool')) === `save ${saves}`, 'the last save');
    await quiet();
    expect(await rig.call('tool')).toBe(`save ${saves}`);
    expect(rig.supervisor.get('tool').state).toBe('ready');
    expect(rig.events.filter((event) => event.type === 'plugin-diagnostic')).toEqual([]);
  });

  it(`is live when ${saves} come within a second, by rename`, async ({ expect, onTestFinished: atEnd }) => {
    const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
    for (let save = 1; save <= saves; save += 1) {
      await savePatterns['write to a temporary file, then rename']?.(file, answering(`save ${save}`));
      await pass(4);
    }
    await until(async () => (await rig.call('tool')) === `save ${saves}`, 'the last save');
    await quiet();
    expect(await rig.call('tool')).toBe(`save ${saves}`);
    expect(generationOf(rig, 'tool')).toBeLessThanOrEqual(saves + 1);
  });

  it(`is live when git checks out ${files} files, each built once`, async ({ expect, onTestFinished: atEnd }) => {
    const home = makeFolder(atEnd);
    const plugins = makeDeep(home, 'plugins');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.autocrlf=false', ...args], {
        cwd: home,
        stdio: 'ignore',
      });
    git('init', '-q');
    for (const version of ['one', 'two']) {
      for (let index = 0; index < files; index += 1)
        writeFileSync(join(plugins, `tool${index}.ts`), answering(`${version} ${index}`));
      git('add', 'plugins');
      git('commit', '-q', '-m', version);
    }
    git('checkout', '-q', 'HEAD~1');
    const rig = await startRig(shared.get(), { home, atEnd });
    expect(rig.builds).toEqual({ compiled: files, loaded: files });
    git('checkout', '-q', '-');
    await until(() => rig.supervisor.list().every(({ generation }) => generation === 2), 'all of them');
    expect(await rig.call('tool0')).toBe('two 0');
    expect(await rig.call(`tool${files - 1}`)).toBe(`two ${files - 1}`);
    await quiet();
    expect(rig.supervisor.list().map(({ generation }) => generation)).toEqual(Array(files).fill(2));
    git('checkout', '-q', 'HEAD~1');
    const built = rig.builds.compiled;
    await until(() => rig.supervisor.list().every(({ generation }) => generation === 1), 'all of them back');
    expect(rig.builds.compiled).toBe(built);
    expect(await rig.call('tool7')).toBe('one 7');
  });

  it('that stays broken counts once, after its grace', async ({ expect, onTestFinished: atEnd }) => {
    const { rig, file } = await startWithFile(atEnd, 'tool.ts', answering('before'));
    writeFileSync(file, '');
    await until(() => rig.supervisor.get('tool').state === 'degraded', 'the failure');
    await quiet();
    expect(rig.events.filter((event) => event.type === 'plugin-diagnostic')).toHaveLength(1);
    expect(await rig.call('tool')).toBe('before');
  });

  it('of a shared helper in a folder outside reloads its users', async ({ expect, onTestFinished: atEnd }) => {
    const home = makeFolder(atEnd);
    makeDeep(home, 'plugins');
    mkdirSync(join(home, 'plugins', '_shared'));
    writeFileSync(join(home, 'plugins', '_shared', 'word.json'), '"one"');
    writeFileSync(
      join(home, 'plugins', 'tool.ts'),
      `import word from './_shared/word.json' with { type: 'json' };\nexport default { handler: async () => word };\n`,
    );
    const rig = await startRig(shared.get(), { home, atEnd });
    expect(await rig.call('tool')).toBe('one');
    writeFileSync(join(home, 'plugins', '_shared', 'word.json'), '"two"');
    await until(async () => (await rig.call('tool')) === 'two', 'the helper');
  });

  it('is seen by polling too', async ({ onTestFinished: atEnd }) => {
    const home = makeFolder(atEnd);
    writeFileSync(join(makeDeep(home, 'plugins'), 'tool.ts'), answering('before'));
    const rig = await startRig(shared.get(), { home, atEnd, polling: true });
    writeFileSync(join(home, 'plugins', 'tool.ts'), answering('behind'));
    await until(async () => (await rig.call('tool')) === 'behind', 'the poll');
  });
});
