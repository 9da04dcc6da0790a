import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeMissingTool } from '../../../../src/operations/handlers/tools/missing-tool.ts';
import { brokenPlugin, echoPlugin, openTerminal, type Terminal } from '../../../cli/terminal.ts';

describe('describeMissingTool', () => {
  const diagnostic = { code: 'compile-failed', message: 'const key = "s3cret" is no statement', fix: 'Mend it.' } as const;
  const tell = (
    state: Parameters<typeof describeMissingTool>[0]['state'],
    options: Partial<Parameters<typeof describeMissingTool>[1]> = {},
  ) => describeMissingTool({ name: 'p', state }, { isAdmin: true, ...options })?.message;

  it('says what a plugin without tools is', () => {
    expect(tell('loading')).toBe('The plugin "p" is loading.');
    expect(tell('disabled')).toBe('The plugin "p" is disabled by an operator.');
    expect(tell('disabled', { reason: 'pluginDenyList names it' })).toBe('The plugin "p" is disabled: pluginDenyList names it.');
    expect(tell('quarantined', { reason: 'its cells were killed' })).toBe(
      'The plugin "p" is quarantined: its cells were killed.',
    );
    expect(tell('failed')).toBe('The plugin "p" is failed.');
  });

  it('quotes a diagnostic to operators alone', () => {
    const view = { name: 'p', state: 'failed', diagnostic } as const;
    expect(describeMissingTool(view, { isAdmin: true })?.message).toContain('s3cret');
    expect(JSON.stringify(describeMissingTool(view, { isAdmin: false }))).not.toContain('s3cret');
    expect(describeMissingTool(view, { isAdmin: false })?.message).toBe('The plugin "p" is failed.');
  });

  it('has nothing to say of a plugin that serves', () => {
    expect(describeMissingTool({ name: 'p', state: 'ready', generation: 1 }, { isAdmin: true })).toBeUndefined();
    expect(describeMissingTool({ name: 'p', state: 'degraded', generation: 1, diagnostic }, { isAdmin: true })).toBeUndefined();
  });
});

describe('a call of a tool that is not there', () => {
  let terminal: Terminal;
  let daemon: Awaited<ReturnType<Terminal['start']>>;
  beforeAll(async () => {
    terminal = openTerminal({ 'plugins/off.ts': echoPlugin.replaceAll("'echo'", "'off'"), 'plugins/broken.ts': brokenPlugin });
    daemon = await terminal.start();
  });
  afterAll(async () => {
    await daemon.stop();
    terminal.close();
  });

  it('waits for the plugin that is being built, also when its tools have other names', async () => {
    const burn = 'let sum = 0;\nfor (let n = 0; n < 5_000_000; n++) sum += n;\n';
    terminal.write('plugins/late.ts', burn + echoPlugin.replace("name: 'echo'", "name: 'late_tool'"));
    for (;;) {
      const { items } = JSON.parse((await terminal.run(['plugin', 'list', '--json'])).out);
      if (items.some(({ path }: { path: string }) => path.endsWith('late.ts'))) break;
    }
    expect(await terminal.run(['call', 'late_tool', 'text=a'])).toMatchObject({ code: 0, err: '' });
  });

  it('waits for a prompt and a resource of a plugin that is being built', async () => {
    const burn = 'let sum = 0;\nfor (let n = 0; n < 5_000_000; n++) sum += n;\n';
    const soon = `prompts: { soon: { handler: () => 'now' } }, resources: { soon: { uri: 'soon://it', read: () => 'now' } }`;
    terminal.write('plugins/soon.ts', `${burn}export default { ${soon} };`);
    for (;;) {
      const { items } = JSON.parse((await terminal.run(['plugin', 'list', '--json'])).out);
      if (items.some(({ path }: { path: string }) => path.endsWith('soon.ts'))) break;
    }
    const [got, read] = await Promise.all([
      terminal.run(['prompt', 'get', 'soon']),
      terminal.run(['resource', 'read', 'soon://it']),
    ]);
    expect([got.out, read.out]).toEqual(['user: now\n', 'now\n']);
  });

  it('says that its plugin is disabled or failed', async () => {
    await terminal.run(['plugin', 'disable', 'off']);
    for (const argv of [
      ['call', 'off', 'text=a'],
      ['call', 'off'],
      ['tool', 'info', 'off'],
    ]) {
      const { code, err } = await terminal.run(argv);
      expect([code, err]).toEqual([1, expect.stringContaining('The plugin "off" is disabled by an operator.')]);
      expect(err).toContain('hotcell plugin enable off');
    }
    const { err } = await terminal.run(['call', 'broken']);
    expect(err).toContain('The plugin "broken" is failed: ');
    expect(err).toMatch(/broken\.ts:\d+:\d+/);
    expect((await terminal.run(['call', 'nobody'])).err).toContain('There is no tool "nobody".');
  });
});
