import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { useSharedParts } from '../../rig/shared-parts.ts';
import { answering, makeFolder, startRig } from '../../rig/supervisor-rig.ts';

const shared = useSharedParts();

async function startWith(files: Readonly<Record<string, string>>) {
  const home = makeFolder();
  mkdirSync(join(home, 'plugins'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'plugins', name), text);
  return startRig(shared.get(), { home });
}

describe('checkText', () => {
  it('says what a text would bring, and leaves the plugin, its file and its generations as they are', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved') });
    const text = `import { word } from './_word.ts';
      export default { name: 'hello', version: '2.0.0', permissions: { net: ['api.example.com'] },
        tools: { greet: { handler: () => word }, part: { handler: () => word } } };`;
    writeFileSync(join(rig.plugins, '_word.ts'), 'export const word = 1;');
    const eventsBefore = rig.events.length;
    expect(await rig.supervisor.check('hello', text)).toMatchObject({
      name: 'hello',
      ok: true,
      changed: true,
      version: '2.0.0',
      engine: 'quickjs',
      tools: ['greet', 'part'],
      permissions: { requested: { net: ['api.example.com'] }, pending: { net: ['api.example.com'] } },
    });
    expect(await rig.call('hello')).toBe('saved');
    expect(rig.supervisor.generations('hello')).toHaveLength(1);
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready', version: '0.0.0' });
    expect(readFileSync(join(rig.plugins, 'hello.ts'), 'utf8')).toBe(answering('saved'));
    expect(rig.events.slice(eventsBefore).filter(({ type }) => type.startsWith('plugin-'))).toEqual([]);
  });

  it('says what is wrong with a text, with its place', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved') });
    const broken = await rig.supervisor.check('hello', 'export default {\n  handler: () => {{,\n};\n');
    expect(broken).toMatchObject({ ok: false, diagnostic: { code: 'compile-failed', file: 'hello.ts', line: 2 } });
    expect(broken.diagnostic?.codeFrame).toContain('handler: () => {{,');
    const thrown = await rig.supervisor.check('hello', 'throw new Error("at load");');
    expect(thrown).toMatchObject({ ok: false, diagnostic: { code: 'load-failed', line: 1 } });
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready' });
    expect(rig.supervisor.get('hello').diagnostic).toBeUndefined();
  });

  it('says when it is what serves already, which goes on serving', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved') });
    await rig.call('hello');
    expect(await rig.supervisor.check('hello', answering('saved'))).toMatchObject({ ok: true, changed: false });
    expect(await rig.call('hello')).toBe('saved');
  });

  it('has the engine forget what was built to be checked, and never what is kept', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved') });
    const discard = vi.spyOn(shared.get().engine, 'discard');
    await rig.supervisor.check('hello', answering('saved'));
    expect(discard).not.toHaveBeenCalled();
    await rig.supervisor.check('hello', answering('proposed'));
    expect(discard).toHaveBeenCalledExactlyOnceWith({ programKey: expect.any(String) });
    discard.mockRestore();
  });

  it('takes the name of a file that is not there yet, and writes none', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved') });
    const check = await rig.supervisor.check('fresh.ts', answering('new'));
    expect(check).toMatchObject({ ok: true, name: 'fresh', changed: true, tools: ['fresh'] });
    expect(readdirSync(rig.plugins)).toEqual(['hello.ts']);
    await expect(rig.supervisor.check('../fresh.ts', answering('new'))).rejects.toMatchObject({ code: 'plugin-unknown' });
    await expect(rig.supervisor.check('helo', answering('new'))).rejects.toMatchObject({ code: 'plugin-unknown' });
  });

  it('reads no more than a saved file may read', async () => {
    const rig = await startWith({ 'hello.ts': answering('saved'), 'other.ts': 'export default { handler: () => "secret" };' });
    const check = await rig.supervisor.check('hello', 'import other from "./other.ts"; export default { handler: () => other };');
    expect(check).toMatchObject({ ok: false, diagnostic: { code: 'import-refused' } });
  });
});
