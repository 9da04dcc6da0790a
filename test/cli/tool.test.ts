import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  const greet = `export default { description: 'Greets by name.', mode: 'auto', handler: ({ name }: { name: string }) => 'hello ' + name };`;
  terminal = openTerminal({ 'hotcell.config.yaml': 'workers: { min: 1, max: 1 }\n', 'plugins/greet.ts': greet });
  daemon = await terminal.start();
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

const run = (...words: string[]) => terminal.run(words);

describe('hotcell tool', () => {
  it('sets the mode of a tool and who uses it, shows it, and takes it back', async () => {
    expect((await run('tool', 'set', 'greet', '--mode', 'off', '--who', 'person')).out).toBe(
      'greet@0.0.0  mode off, for admins\n',
    );
    expect((await run('call', 'greet', 'name=Ada')).err).toContain('hotcell tool set');
    expect((await run('tool', 'info', 'greet')).out).toMatch(/mode off \(set\), for admins \(set\)/);
    const back = await run('tool', 'set', 'greet', '--mode', 'declared', '--who', 'declared');
    expect(back.out).toBe('greet@0.0.0  mode auto, for models\n');
    expect((await run('tool', 'set', 'greet')).code).toBe(2);
    expect((await run('tool', 'set', 'greet', '--mode', 'maybe')).code).toBe(2);
    expect(daemon.text()).toContain('setting-change greet');
  });

  it('turns all tools off and on again', async () => {
    expect((await run('tool', 'switch', 'enabled', 'off')).out).toBe('all tools are off\n');
    expect((await run('call', 'greet', 'name=Ada')).err).toContain('hotcell tool switch enabled on');
    expect((await run('tool', 'switch', 'enabled', 'on')).out).toBe('tools are on\n');
    expect((await run('tool', 'switch', 'custom', 'off')).out).toBe('only built-in tools are on\n');
    expect(JSON.parse((await run('tool', 'switch', 'custom', 'on', '--json')).out)).toEqual({ enabled: true, custom: true });
    expect((await run('tool', 'switch', 'everything', 'off')).code).toBe(2);
  });

  it('is named for a key also where nobody has it yet, which is said', async () => {
    const made = await run('key', 'create', '--tools', 'gret', 'gr*', 'greet');
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('No tool is called "gret" now')]);
    expect(made.err).toContain('Did you mean "greet"?');
    expect(made.err.match(/No tool is called/g)).toHaveLength(1);
    const { items } = JSON.parse((await run('key', 'list', '--json')).out);
    expect(items[0].missingTools).toEqual([{ name: 'gret', near: ['greet'] }]);
    const changed = await run('key', 'update', items[0].id, '--tools', 'gteer');
    expect([changed.code, changed.err]).toEqual([0, expect.stringContaining('No tool is called "gteer" now')]);
    expect((await run('tool', 'list', 'zzz')).out).toBe('No tool mentions "zzz".\n');
  });

  it('tells which tools a model would be shown, and why', async () => {
    expect((await run('tool', 'select', 'please greet Ada')).out).toMatch(
      /greet@0\.0\.0 +score +8 +\+6 name \(greet\), \+2 name-word \(greet\)/,
    );
    expect((await run('tool', 'select', 'nothing of the kind', '--limit', '0')).out).toMatch(/greet@0\.0\.0 +not shown +0/);
  });

  it('registers a tool from standard input and removes it', async () => {
    const definition = JSON.stringify({
      name: 'hail',
      description: 'Greets Ada.',
      handler: { tool: 'greet', arguments: { name: 'Ada' } },
    });
    const register = (stdin: string, ...words: string[]) => terminal.run(['tool', 'register', ...words], { stdin });
    expect((await register(definition)).out).toContain('hail@1.0.0 is registered');
    expect((await run('call', 'hail')).out).toBe('hello Ada\n');
    expect((await register(definition)).err).toContain('is registered already');
    expect((await register(definition, '--replace')).code).toBe(0);
    expect((await register('{"name": nonsense}')).err).toContain('line 1, column 10');
    expect((await run('tool', 'remove', 'greet')).err).toContain('was not registered');
    expect((await run('tool', 'remove', 'hail')).out).toBe('hail@1.0.0 is gone.\n');
    expect((await run('call', 'hail')).code).toBe(1);
  });
});
