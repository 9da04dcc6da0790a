import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createExtismEngine } from '../../src/engines/extism/extism-engine.ts';
import { useSharedParts } from './rig/shared-parts.ts';
import { makeDeep, makeFolder, startRig, until } from './rig/supervisor-rig.ts';

const shared = useSharedParts();
const extism = createExtismEngine();
afterAll(() => extism.close());

const example = (ending: string) => join(import.meta.dirname, '..', '..', 'wasm', `count-vowels.${ending}`);

async function startWithModule() {
  const home = makeFolder();
  const plugins = makeDeep(home, 'plugins');
  copyFileSync(example('wasm'), join(plugins, 'count-vowels.wasm'));
  return { rig: await startRig({ ...shared.get(), extism }, { home }), plugins, home };
}

describe('a module in a plugin folder', () => {
  it('asks for the manifest beside it, and is a tool as soon as that is there', async () => {
    const { rig, plugins } = await startWithModule();
    expect(rig.supervisor.get('count-vowels.wasm')).toMatchObject({ state: 'failed', diagnostic: { code: 'manifest-invalid' } });
    copyFileSync(example('json'), join(plugins, 'count-vowels.json'));
    const view = await until(() => {
      const now = rig.supervisor.get('count-vowels.wasm');
      return now.state === 'ready' ? now : undefined;
    }, 'the tool');
    expect(view).toMatchObject({ engine: 'extism' });
    expect(JSON.stringify(await rig.call(view.tools[0] ?? '', { text: 'banana' }))).toContain('3');
  });

  it('follows its manifest, and needs no build after a restart', async () => {
    const { rig, plugins, home } = await startWithModule();
    const manifest: unknown = JSON.parse(readFileSync(example('json'), 'utf8'));
    const write = (description: string) =>
      writeFileSync(join(plugins, 'count-vowels.json'), JSON.stringify(Object.assign({}, manifest, { description })));
    write('first');
    await until(() => rig.supervisor.get('count-vowels.wasm').description === 'first', 'the manifest');
    write('second');
    await until(() => rig.supervisor.get('count-vowels.wasm').description === 'second', 'the new manifest');
    await rig.stop();
    const second = await startRig({ ...shared.get(), extism }, { home });
    expect(second.supervisor.get('count-vowels.wasm')).toMatchObject({ state: 'ready', description: 'second', generation: 2 });
    rmSync(join(plugins, 'count-vowels.json'));
    await until(() => second.supervisor.get('count-vowels.wasm').state === 'degraded', 'the missing manifest');
  });
});
