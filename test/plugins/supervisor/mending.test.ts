import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useSharedParts } from '../rig/shared-parts.ts';
import { answering, makeFolder, type Rig, startRig, until } from '../rig/supervisor-rig.ts';

const shared = useSharedParts();
const broken = "export default { description: 'Answers.', handler: async () => 'broken };\n";
const mended = answering('mended');

async function startBroken(text = broken): Promise<Rig & { readonly file: string; readonly path: string }> {
  const home = makeFolder();
  mkdirSync(join(home, 'plugins'));
  const file = join(home, 'plugins', 'hello.ts');
  writeFileSync(file, text);
  const rig = await startRig(shared.get(), { home });
  return Object.assign(rig, { file, path: file });
}

async function publishMended(rig: Rig & { readonly path: string }, text = mended, diagnosed = broken) {
  const { mending } = rig.supervisor;
  const source = mending.find(rig.path)?.source;
  if (source === undefined) throw new Error('no plugin');
  const proposed = new Map([[source.realEntry, text]]);
  const build = await rig.builder.build(source, new AbortController().signal, { proposed, author: 'repair' });
  if (!build.ok) throw new Error(build.diagnostic.message);
  return mending.publish(rig.path, {
    build,
    author: 'repair',
    diagnosed: new Map([[source.realEntry, diagnosed]]),
    contentHash: 'diagnosed',
    reason: 'mended',
  });
}

describe('publish', () => {
  it('lets a build that was never on the disk serve, and leaves the file alone', async () => {
    const rig = await startBroken();
    expect(rig.supervisor.get('hello').state).toBe('failed');
    expect(await publishMended(rig)).toMatchObject({ kind: 'published', generation: { author: 'repair', number: 1 } });
    expect(await rig.call('hello')).toBe('mended');
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready', author: 'repair' });
    expect(rig.supervisor.get('hello').diagnostic).toBeUndefined();
    expect(readFileSync(rig.file, 'utf8')).toBe(broken);
  });

  it('serves after a restart without another build, while nobody saved', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    await rig.stop();
    const again = await startRig(shared.get(), { home: rig.home });
    expect(again.supervisor.get('hello')).toMatchObject({ state: 'ready', author: 'repair', generation: 1 });
    expect(await again.call('hello')).toBe('mended');
    expect(again.builds.compiled).toBe(0);
  });

  it('serves on after a restart with another save, as the last good generation of a file that is broken in another way', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    await rig.stop();
    writeFileSync(rig.file, 'export default {{');
    const again = await startRig(shared.get(), { home: rig.home });
    expect(again.supervisor.get('hello')).toMatchObject({ state: 'degraded', author: 'repair', generation: 1 });
  });

  it('gives way to the next save of a person', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    writeFileSync(rig.file, answering('of a person'));
    await until(() => rig.supervisor.get('hello').author === 'operator', 'the generation of the person');
    expect(await rig.call('hello')).toBe('of a person');
  });

  it('tells the truth to who reloads: the file is broken still, and what was mended keeps serving', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    expect(await rig.supervisor.reload('hello')).toMatchObject({ ok: false, state: 'degraded', generation: 1 });
    expect(await rig.call('hello')).toBe('mended');
  });

  it('publishes nothing over what was saved in the middle of a repair', async () => {
    const rig = await startBroken();
    writeFileSync(rig.file, answering('of a person'));
    expect(await publishMended(rig)).toEqual({ kind: 'changed' });
    await until(() => rig.supervisor.get('hello').state === 'ready', 'the save');
    expect(await rig.call('hello')).toBe('of a person');
    expect(rig.supervisor.generations('hello').map(({ author }) => author)).toEqual(['operator']);
  });
});

describe('recall', () => {
  it('leaves nothing serving where nothing served before', async () => {
    const rig = await startBroken();
    const published = await publishMended(rig);
    if (!('generation' in published)) throw new Error(published.kind);
    expect(await rig.supervisor.mending.recall(rig.path, published.generation.id, () => false)).toBe(true);
    expect(rig.supervisor.get('hello').state).toBe('failed');
    await expect(rig.call('hello')).rejects.toMatchObject({ code: 'tool-unknown' });
    await rig.stop();
    const again = await startRig(shared.get(), { home: rig.home });
    expect(again.supervisor.get('hello').state).toBe('failed');
  });

  it('has the generation before it serve', async () => {
    const rig = await startBroken(answering('good'));
    writeFileSync(rig.file, broken);
    await until(() => rig.supervisor.get('hello').state === 'degraded', 'the broken save');
    const published = await publishMended(rig);
    if (!('generation' in published)) throw new Error(published.kind);
    expect(await rig.call('hello')).toBe('mended');
    await rig.supervisor.mending.recall(rig.path, published.generation.id, () => false);
    expect(await rig.call('hello')).toBe('good');
    expect(rig.supervisor.get('hello').state).toBe('degraded');
  });

  it('does nothing once a person saved', async () => {
    const rig = await startBroken();
    const published = await publishMended(rig);
    if (!('generation' in published)) throw new Error(published.kind);
    writeFileSync(rig.file, answering('of a person'));
    await until(() => rig.supervisor.get('hello').author === 'operator', 'the generation of the person');
    expect(await rig.supervisor.mending.recall(rig.path, published.generation.id, () => false)).toBe(false);
    expect(await rig.call('hello')).toBe('of a person');
  });
});

describe('write', () => {
  it('makes the text of a repair that an operator writes the work of the operator', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    const { mending } = rig.supervisor;
    const result = await mending.write(rig.path, new Map([[rig.file, mended]]), new Map([[rig.file, broken]]), 'local');
    expect(result).toMatchObject({ ok: true, state: 'ready' });
    expect(readFileSync(rig.file, 'utf8')).toBe(mended);
    expect(rig.supervisor.get('hello')).toMatchObject({ author: 'operator', generation: 2 });
  });

  it('leaves it the work of the repair when the daemon writes it', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    const { mending } = rig.supervisor;
    await mending.write(rig.path, new Map([[rig.file, mended]]), new Map([[rig.file, broken]]), 'repair');
    expect(rig.supervisor.get('hello')).toMatchObject({ author: 'repair', generation: 1, state: 'ready' });
    expect(mending.isOwnWork(rig.path)).toBe(true);
    writeFileSync(rig.file, answering('of a person'));
    await until(() => rig.supervisor.get('hello').author === 'operator', 'the generation of the person');
    expect(mending.isOwnWork(rig.path)).toBe(false);
  });

  it('writes nothing over an edit', async () => {
    const rig = await startBroken();
    await publishMended(rig);
    writeFileSync(rig.file, answering('of a person'));
    const { mending } = rig.supervisor;
    await expect(
      mending.write(rig.path, new Map([[rig.file, mended]]), new Map([[rig.file, broken]]), 'local'),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(rig.file, 'utf8')).toBe(answering('of a person'));
  });

  it('writes nothing over an edit of the second file that comes while the first one is written, and puts that back', async () => {
    const rig = await startBroken();
    const { mending } = rig.supervisor;
    const second = join(rig.home, 'plugins', 'words.json');
    writeFileSync(second, '1');
    const texts = new Map([
      [rig.file, mended],
      [second, '2'],
    ]);
    const expected = new Map([
      [rig.file, broken],
      [second, '1'],
    ]);
    const work = mending.write(rig.path, texts, expected, 'local');
    const watch = (): unknown => (readFileSync(rig.file, 'utf8') === mended ? writeFileSync(second, '3') : setImmediate(watch));
    watch();
    await expect(work).rejects.toMatchObject({ code: 'conflict' });
    expect([readFileSync(rig.file, 'utf8'), readFileSync(second, 'utf8')]).toEqual([broken, '3']);
  });

  it('follows no folder that became a link', async () => {
    const rig = await startBroken();
    const [inside, outside] = [join(rig.home, 'plugins', 'parts'), join(makeFolder(), 'parts')];
    mkdirSync(outside);
    writeFileSync(join(outside, 'a.ts'), 'one');
    symlinkSync(outside, inside);
    const file = join(inside, 'a.ts');
    const work = rig.supervisor.mending.write(rig.path, new Map([[file, 'two']]), new Map([[file, 'one']]), 'local');
    await expect(work).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(join(outside, 'a.ts'), 'utf8')).toBe('one');
  });
});

describe('a start', () => {
  it('removes what a daemon that was killed while it wrote left beside plugins, and nothing else', async () => {
    const home = makeFolder();
    const folder = join(home, 'plugins', 'many', 'lib');
    mkdirSync(folder, { recursive: true });
    const left = ['.hello.ts.0123456789ab.tmp', 'many/.index.ts.a123456789ab.tmp', 'many/lib/.one.ts.b123456789ab.tmp'];
    const kept = ['hello.ts.0123456789ab.tmp', '.hello.ts.tmp', '.notes.0123456789AB.tmp', 'many/lib/.one.ts.b123.tmp'];
    for (const name of [...left, ...kept]) writeFileSync(join(home, 'plugins', name), 'half of');
    await startRig(shared.get(), { home });
    const there = (name: string) => existsSync(join(home, 'plugins', name));
    expect([left.filter(there), kept.filter(there)]).toEqual([[], kept]);
  });
});
