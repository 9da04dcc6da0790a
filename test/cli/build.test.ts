import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isServlet } from '../../src/engines/extism/module/servlet.ts';
import { startExampleDaemon } from '../example-daemon.ts';
import { brokenPlugin, echoPlugin, openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal;
beforeAll(() => {
  terminal = openTerminal({
    'plugins/echo.ts': echoPlugin,
    'wrong/broken.ts': brokenPlugin,
    'wrong/thrower.ts':
      'const nothing: any = undefined;\nexport default { description: "x", handler: () => nothing.a, name: nothing.name };\n',
    'slow/hotcell.config.yaml': 'limits:\n  cpuMs: 200\n',
    'slow/endless.ts': 'for (;;) {}\nexport default { description: "x", handler: () => 1 };\n',
    'plugins/shared.ts': 'export default { description: "x", isolation: "session", handler: () => 1 };\n',
    'plugins/native.ts': 'export default { description: "x", engine: "deno", handler: () => 1 };\n',
    'plugins/reader.ts':
      'export default { description: "x", permissions: { read: ["."], kv: true }, handler: (_: object, context: any) => context.files.read("a") };\n',
  });
});
afterAll(() => terminal.close());

/** Builds beside a data folder in which a daemon made its first things already. */
const build = (words: readonly string[]) =>
  terminal.run(['build', ...words], { env: { HOTCELL_DATA: process.env.HOTCELL_WARM_DATA ?? '' } });

describe('hotcell build', () => {
  it('writes a module where it is told, without a daemon and without leaving anything else', async () => {
    const said = await terminal.run(['build', 'plugins/echo.ts', '-o', 'out.wasm']);
    expect(said).toMatchObject({ code: 0, err: '' });
    expect(said.out).toMatch(/^✓ out\.wasm \(\d\.\d MiB\) exports describe, call, echo\n$/);
    expect(isServlet(readFileSync(join(terminal.cwd, 'out.wasm')))).toBe(true);
    expect(existsSync(join(terminal.cwd, '.hotcell'))).toBe(false);
  });

  it('takes the name of the plugin where no file is given, and answers JSON', async () => {
    const { code, out } = await terminal.run(['build', 'plugins/echo.ts', '--json']);
    const file = join(terminal.cwd, 'echo.wasm');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      file,
      exports: ['describe', 'call', 'echo'],
      bytes: readFileSync(file).length,
    });
  });

  it('says which permissions mean nothing outside a daemon', async () => {
    const { code, err } = await build(['plugins/reader.ts']);
    expect(code).toBe(0);
    expect(err).toContain('What needs the permission "read" works in a daemon only');
    expect(err).not.toContain('"kv"');
  });

  it('tells what is wrong with a plugin as a reload does', async () => {
    const daemon = await startExampleDaemon({ grantRequested: true, plugins: [join(terminal.cwd, 'wrong')] });
    const reloaded = daemon.plugins.list();
    await daemon.close();
    for (const name of ['broken', 'thrower']) {
      const { code, out } = await build([`wrong/${name}.ts`, '--json', '-o', 'none.wasm']);
      expect(code).toBe(1);
      const { diagnostic } = JSON.parse(out);
      expect(diagnostic).toMatchObject({ line: expect.any(Number), codeFrame: expect.any(String) });
      expect(diagnostic).toEqual(reloaded.find(({ path }) => path.endsWith(`${name}.ts`))?.diagnostic);
      expect(existsSync(join(terminal.cwd, 'none.wasm'))).toBe(false);
      const shown = await build([`wrong/${name}.ts`]);
      expect(shown.err).toMatch(new RegExp(`^✗ .*${name}\\.ts:\\d+:\\d+\n`));
    }
  });

  it('ends when the plugin does not', async () => {
    const { code, err } = await build(['slow/endless.ts', '--config', 'slow/hotcell.config.yaml']);
    expect(code).toBe(1);
    expect(err).toMatch(/Loading \S+ took more than 200 ms/);
  });

  it.each([
    ['shared', 'isolation "session"'],
    ['native', 'Only a plugin of the engine quickjs can become a module'],
  ])('refuses what a module cannot be: %s', async (name, reason) => {
    const { code, err } = await build([`plugins/${name}.ts`]);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });

  it('says where it cannot write', async () => {
    const { code, err } = await build(['plugins/echo.ts', '-o', 'no/such/folder/echo.wasm']);
    expect(code).toBe(2);
    expect(err).toContain('cannot be written to');
  });

  it('finds a plugin by its name in the plugin folders, and says near names of one that is not there', async () => {
    const { code, out } = await terminal.run(['build', 'echo', '-o', 'by-name.wasm']);
    expect(code).toBe(0);
    expect(out).toContain('exports describe, call, echo');
    const { err } = await terminal.run(['build', 'ecko']);
    expect(err).toContain('Did you mean "echo"?');
    expect((await terminal.run(['build', 'plugins/ecko.ts'])).err).toContain('Did you mean "echo.ts"?');
  });

  it('finds a plugin by what a running daemon calls it', async () => {
    terminal.write('elsewhere/file.ts', "export default { name: 'otherwise', description: 'x', handler: () => 1 };");
    const daemon = await terminal.start(['--plugins', join(terminal.cwd, 'elsewhere')]);
    const { code, out, err } = await terminal.run(['build', 'otherwise', '-o', 'otherwise.wasm']);
    await daemon.stop();
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('exports describe, call, otherwise');
  });

  it('says where it looked for a plugin', async () => {
    const { code, err } = await build(['plugins/nowhere.ts']);
    expect(code).toBe(1);
    expect(err).toContain('nowhere.ts');
  });
});
