import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beforeHook, type HookHouse, hookText, openHookHouse } from './hook-house.ts';

describe('buildHook', () => {
  let house: HookHouse;
  beforeAll(async () => {
    house = await openHookHouse({}, { settings: { limits: { cpuMs: 500 } } });
    mkdirSync(join(house.dataDir, 'node_modules/leak'), { recursive: true });
    writeFileSync(join(house.dataDir, 'node_modules/leak/index.js'), 'export default 1;');
    writeFileSync(join(house.dataDir, 'secret.ts'), 'export const secret = 1;');
    writeFileSync(join(house.dataDir, 'hooks', 'beside.ts'), 'export const beside = 1;');
  });
  afterAll(() => house.close());

  async function build(name: string, files: Readonly<Record<string, string>>) {
    house.write(name, files);
    const view = await house.approve(name);
    return view;
  }

  it('builds a handler with files and data of its own folder, in TypeScript and in CommonJS', async () => {
    const matter = hookText('events: ["tool:before"]\ntools: [nothing]');
    const files = {
      'HOOK.md': matter,
      'handler.ts':
        "import { words } from './lib/words.ts';\nimport more from './more.json';\nimport type { Nowhere } from '../../src/hooks.js';\nexport default (event: Nowhere) => ({ veto: words + more.length });",
      'lib/words.ts': "export const words = 'w';",
      'more.json': '[1]',
    };
    expect(await build('typescript', files)).toMatchObject({ state: 'active' });
    const common = { 'HOOK.md': matter, 'handler.js': 'module.exports = async function (event) { return undefined; };' };
    expect(await build('commonjs', common)).toMatchObject({ state: 'active' });
  });

  it.each([
    ['a package of a folder above', "import leak from 'leak'; export default () => leak;", 'outside its folder'],
    [
      'a file above',
      "import { secret } from '../../secret.ts'; export default () => secret;",
      'Copy what it needs into the folder of the hook.',
    ],
    ['a file beside its folder', "import { beside } from '../beside.ts'; export default () => beside;", 'Copy what it needs'],
    ['a file of the host', "import passwd from '/etc/passwd'; export default () => passwd;", 'Copy what it needs'],
    ['what its engine does not have', "import fs from 'node:fs'; export default () => fs;", 'node:fs'],
    ['what is not there', "import x from './gone.ts'; export default () => x;", 'gone.ts'],
    ['nothing to run', 'export const handler = 1;', 'must export a function by default'],
    ['a throw at once', "throw new Error('at once'); export default () => {};", 'at once'],
    ['no end at once', 'for (;;) {} export default () => {};', 'limit'],
  ])('fails on a handler with %s, and says why without a path of this machine', async (what, text, said) => {
    const name = what.replaceAll(' ', '-');
    const { state, problem } = await build(name, { ...beforeHook('', 'tools: [nothing]'), 'handler.ts': text });
    expect([state, problem]).toEqual(['failed', expect.stringContaining(said)]);
    expect(problem).not.toContain(house.dataDir);
  });

  it('leaves nothing behind where it wrote the files down', () => {
    expect(readdirSync(join(house.dataDir, 'hook-builds'))).toEqual([]);
  });
});
