import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenPlugin, echoPlugin, failsPlugin, openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal;
/** What fails has a folder of its own: every command loads all that lies beside what it speaks of. */
let failing: Terminal;
beforeAll(() => {
  terminal = openTerminal({ 'plugins/echo.ts': echoPlugin });
  failing = openTerminal({ 'plugins/fails.ts': failsPlugin, 'plugins/broken.ts': brokenPlugin });
});
afterAll(() => {
  terminal.close();
  failing.close();
});

describe('runCli without a daemon', () => {
  it('calls a tool with words that take the types of its schema', async () => {
    const { code, out } = await terminal.run(['call', 'echo', 'text=12', 'count=3']);
    expect([code, JSON.parse(out)]).toEqual([0, { text: '12', count: 3 }]);
  });

  it('takes all arguments as JSON, also from standard input', async () => {
    expect(JSON.parse((await terminal.run(['call', 'echo', '--json', '{"text":"x"}'])).out)).toEqual({ text: 'x', count: 1 });
    expect(JSON.parse((await terminal.run(['call', 'echo', '-'], { stdin: '{"text":"y"}' })).out)).toEqual({
      text: 'y',
      count: 1,
    });
    const full = JSON.parse((await terminal.run(['call', 'echo', 'text=z', '--full'])).out);
    expect(full).toMatchObject({ status: 'success', executionId: expect.stringMatching(/^exe_/) });
  });

  it('tells a failure with its place and answers 1', async () => {
    const { code, out, err } = await failing.run(['call', 'fails', 'how=throw']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('no such luck');
    expect(err).toMatch(/fails\.ts:\d+/);
  });

  it('answers 4 when something was denied', async () => {
    const { code, err } = await failing.run(['call', 'fails', 'how=net']);
    expect([code, err]).toEqual([4, expect.stringContaining('api.example.com')]);
  });

  it('says why the plugin of a missing tool did not load', async () => {
    const { code, err } = await failing.run(['call', 'broken']);
    expect([code, err]).toEqual([1, expect.stringContaining('broken.ts:')]);
  });

  it('names near tools', async () => {
    const { code, err } = await terminal.run(['call', 'ecko', 'text=a']);
    expect([code, err]).toEqual([1, expect.stringContaining('"echo"')]);
  });

  it('answers 2 to arguments that do not fit, or are no arguments', async () => {
    for (const argv of [
      ['call', 'echo', 'texd=a'],
      ['call', 'echo', 'text'],
      ['call', 'echo', '--json', '[1]'],
      ['call', 'echo', '--json', '{'],
      ['call', 'echo', 'text=a', '--json', '{}'],
      ['call', 'echo', 'text=a', '--timeout', 'soon'],
    ]) {
      const { code, err } = await terminal.run(argv);
      expect([argv, code]).toEqual([argv, 2]);
      expect(err).toContain('✗');
    }
  });

  it('runs the examples of a plugin, a line each', async () => {
    const good = await terminal.run(['plugin', 'test', 'echo']);
    expect([good.code, good.out.match(/✓/g)]).toEqual([0, ['✓', '✓']]);
    const bad = await failing.run(['plugin', 'test', 'fails']);
    expect([bad.code, bad.out]).toEqual([1, expect.stringContaining('expected "not this"')]);
    expect(JSON.parse((await failing.run(['plugin', 'test', 'fails', '--json'])).out)).toMatchObject({ total: 1, failed: 1 });
  });

  it('reports every example, also those whose arguments do not fit', async () => {
    const fresh = openTerminal({
      'plugins/mixed.ts': `export default { description: 'Doubles.', parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
        examples: [{ args: { n: 1 }, expect: 2 }, { args: { n: 'x' } }, { args: {} }, { args: { n: 2 }, expect: 4 }],
        handler: async ({ n }) => n * 2 };`,
    });
    const { code, out } = await fresh.run(['plugin', 'test', 'mixed']);
    fresh.close();
    expect(code).toBe(1);
    expect(out.match(/^[✓✗] mixed/gm)).toEqual(['✓ mixed', '✗ mixed', '✗ mixed', '✓ mixed']);
    expect(out).toContain('n: expected a number, got the text "x"');
    expect(out).toContain('2 of 4 examples pass.');
  });

  it('names an image by its type and size, and writes its bytes into a file', async () => {
    const fresh = openTerminal({
      'plugins/dot.ts': `export default { description: 'Draws a dot.', handler: async () => new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) };`,
    });
    expect((await fresh.run(['call', 'dot'], { isTTY: true })).out).toBe('[image/png, 8 B]\n');
    expect(JSON.parse((await fresh.run(['call', 'dot'])).out)).toMatchObject({ type: 'image', data: 'iVBORw0KGgo=' });
    const written = await fresh.run(['call', 'dot', '--output', 'dot.png']);
    expect(written).toMatchObject({ code: 0, out: '', err: expect.stringContaining('Wrote dot.png (8 bytes).') });
    expect([...readFileSync(join(fresh.cwd, 'dot.png'))]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
    fresh.close();
  });

  it('answers 3 to commands that need a daemon', async () => {
    for (const argv of [['why', 'echo'], ['plugin', 'list'], ['executions'], ['key', 'list']]) {
      expect([argv, (await terminal.run(argv)).code]).toEqual([argv, 3]);
    }
    const elsewhere = await terminal.run(['plugin', 'list'], { env: { HOTCELL_URL: 'http://127.0.0.1:9' } });
    expect([elsewhere.code, elsewhere.err]).toEqual([3, expect.stringContaining('127.0.0.1:9')]);
  });

  it('examines the machine', async () => {
    const { out } = await terminal.run(['doctor', '--json']);
    expect(JSON.parse(out).items.map((item: { name: string }) => item.name)).toEqual(
      expect.arrayContaining(['node', 'data directory', 'disk', 'port', 'esbuild', 'docker']),
    );
  });
});

describe('runCli with wrong usage', () => {
  it('answers 2 and names near commands', async () => {
    for (const [argv, said] of [
      [['plugn'], 'Did you mean "plugin"?'],
      [['plugin', 'lst'], 'Did you mean "list"?'],
      [['config', 'shw'], 'There is no command "config shw". Did you mean "show"?'],
      [['call'], 'name'],
      [['start', '--prt', '1'], '--port'],
    ] as const) {
      const { code, err } = await terminal.run(argv);
      expect([argv, code, err]).toEqual([argv, 2, expect.stringContaining(said)]);
    }
  });

  it('answers 0 to help and version', async () => {
    expect((await terminal.run(['--help'])).out).toContain('Exit codes');
    expect((await terminal.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('names what is wrong in the config and answers 2', async () => {
    const { code, err } = await terminal.run(['start', '--port', '99999999', '--config', 'missing.yaml']);
    expect([code, err]).toEqual([2, expect.stringContaining('missing.yaml')]);
    expect((await terminal.run(['config', 'check', '--data', 'plugins'])).code).toBe(2);
  });
});

describe('hotcell init', () => {
  it('prepares a folder and never writes over anything', async () => {
    const fresh = openTerminal({ '.gitignore': 'node_modules', 'tsconfig.json': '{"mine":true}' });
    expect((await fresh.run(['init'])).code).toBe(0);
    const read = (path: string) => readFileSync(join(fresh.cwd, path), 'utf8');
    expect(read('.gitignore')).toBe('node_modules\n.hotcell/\n');
    expect(read('tsconfig.json')).toBe('{"mine":true}');
    expect((await fresh.run(['config', 'check'])).code).toBe(0);
    const before = read('hotcell.config.yaml');
    fresh.write('hotcell.config.yaml', `${before}# mine\n`);
    expect((await fresh.run(['init'])).out).not.toContain('✓');
    expect(read('hotcell.config.yaml')).toBe(`${before}# mine\n`);
    fresh.close();
  });
});

describe('hotcell plugin new', () => {
  it('writes a plugin whose examples pass, and never over another', async () => {
    const fresh = openTerminal();
    expect((await fresh.run(['plugin', 'new', 'counter'])).code).toBe(0);
    expect(existsSync(join(fresh.cwd, 'plugins', 'counter.ts'))).toBe(true);
    const tested = await fresh.run(['plugin', 'test', 'counter']);
    expect([tested.code, tested.out]).toEqual([0, expect.stringContaining('1 of 1 examples pass')]);
    expect((await fresh.run(['plugin', 'new', 'counter'])).code).toBe(1);
    expect((await fresh.run(['plugin', 'new', '../evil'])).code).toBe(2);
    fresh.close();
  });
});

describe('hotcell config', () => {
  it('shows the configuration without secrets, and its schema', async () => {
    const fresh = openTerminal({ 'hotcell.config.yaml': 'env: { KEY: very-secret }\nplugins: { a: { b: very-secret } }\n' });
    const { out } = await fresh.run(['config', 'show']);
    expect(JSON.parse(out)).toMatchObject({ env: { KEY: '(set)' }, plugins: { a: { b: '(set)' } } });
    expect(out).not.toContain('very-secret');
    expect(JSON.parse((await fresh.run(['config', 'schema'])).out)).toHaveProperty('properties.pluginDirs');
    fresh.close();
  });
});
