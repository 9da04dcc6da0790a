import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HotcellError } from '../../src/errors/hotcell-error.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { badPlugins } from './bad-plugins.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';

const good = (answer: number) => `export default { name: 'working', description: 'Works.', handler: () => ${answer} };\n`;
const secret = 'very-secret-of-the-host';

let house: DaemonHouse;

beforeAll(async () => {
  const neighbour = `export default { name: 'neighbour', description: 'Works.', handler: () => 'unharmed' };\n`;
  const folder = makeDaemonFolder(
    { 'neighbour.ts': neighbour, '_neighbour.ts': 'export default 1;\n' },
    { limits: { cpuMs: 500 }, escalation: 'never' },
  );
  writeFileSync(join(folder, 'secret.ts'), `export default '${secret}';\n`);
  writeFileSync(join(folder, 'secret.json'), JSON.stringify({ token: secret }));
  house = await openDaemonHouse(folder);
});

afterAll(async () => {
  await house.close();
  removeDaemonFolder(house.folder);
});

async function expectNeighbourUnharmed(): Promise<void> {
  expect(await house.call('neighbour')).toMatchObject({ status: 'success', output: 'unharmed' });
}

/** Waits until the daemon has told what is wrong with a file. */
const toldOf = (file: string) => house.event('plugin-diagnostic', ({ data }) => data.path.endsWith(file));

describe('a file that is no good plugin', () => {
  it.each(badPlugins)('is refused when it is $what, with what to do', async ({ file, content, code, message, fix, line }) => {
    const path = join(house.pluginDir, file);
    writeFileSync(path, content);
    await toldOf(file);
    const view = await house.client.invoke(pluginContracts.get, { name: file });
    expect(view).toMatchObject({ state: 'failed', tools: [], diagnostic: { code } });
    expect(view.diagnostic?.message).toMatch(message);
    expect(view.diagnostic?.fix).toMatch(fix);
    if (line !== undefined) expect(view.diagnostic).toMatchObject({ file, line, codeFrame: expect.stringContaining('> ') });
    expect(JSON.stringify(view)).not.toContain(secret);
    expect(JSON.stringify(view.diagnostic)).not.toContain(house.folder);

    const refusal = house.client.invoke(pluginContracts.reload, { name: file });
    await expect(refusal).rejects.toMatchObject({ code: 'reload-failed' });
    await expectNeighbourUnharmed();
    rmSync(path);
    await house.event('plugin-removed', ({ data }) => data.path.endsWith(file));
  });

  it('never takes a working tool away, and lets it come back as soon as the file is mended', async () => {
    const path = join(house.pluginDir, 'working.ts');
    writeFileSync(path, good(1));
    await becomes('working', 'ready');
    for (const [round, { content, code }] of badPlugins.entries()) {
      writeFileSync(path, content);
      await becomes('working', 'degraded');
      const view = await house.client.invoke(pluginContracts.get, { name: 'working' });
      expect(view.diagnostic?.code).toBe(code);
      expect(await house.call('working')).toMatchObject({ status: 'success', output: round + 1 });
      writeFileSync(path, good(round + 2));
      await becomes('working', 'ready');
      expect(await house.call('working')).toMatchObject({ status: 'success', output: round + 2 });
    }
  });

  it('is passed over when it is no file: a pipe does not hold the daemon up', async () => {
    execFileSync('mkfifo', [join(house.pluginDir, 'pipe.ts')]);
    const result = await house.client.invoke(pluginContracts.reloadAll, {});
    expect(result.items.map(({ name }) => name)).not.toContain('pipe');
    await expectNeighbourUnharmed();
  });

  // Root reads whatever the mode of a file says.
  it.skipIf(process.getuid?.() === 0)('is refused when the daemon may not read it', async () => {
    const path = join(house.pluginDir, 'closed.ts');
    writeFileSync(path, good(1));
    chmodSync(path, 0);
    await toldOf('closed.ts');
    const view = await house.client.invoke(pluginContracts.get, { name: 'closed.ts' });
    expect(view).toMatchObject({ state: 'failed', diagnostic: { code: 'entry-invalid' } });
    expect(view.diagnostic).toMatchObject({
      message: expect.stringMatching(/cannot be read/),
      fix: expect.stringMatching(/chmod/),
    });
  });

  it('is named with near names when somebody asks for it wrongly', async () => {
    const asked = house.client.invoke(pluginContracts.get, { name: 'neighbor' }).catch((error: HotcellError) => error);
    expect(await asked).toMatchObject({ code: 'plugin-unknown', message: expect.stringContaining('"neighbour"') });
  });
});

/** The next change of a plugin to a state. */
async function becomes(name: string, state: string): Promise<void> {
  const known = house.events.length;
  await house.event('plugin-change', (event) => {
    return event.subject === name && event.data.state === state && house.events.indexOf(event) >= known;
  });
}
