import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const asks = `export default {
  name: 'asks', description: 'Asks.', permissions: { net: ['api.example.com'], kv: true },
  handler: async (args: {}, context: any) => { await context.kv.set('a', 1); return 'kept'; },
};
`;

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  terminal = openTerminal({ 'hotcell.config.yaml': 'workers: { min: 1, max: 1 }\n', 'plugins/asks.ts': asks });
  daemon = await terminal.start([], { isTTY: true });
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

describe('hotcell grant and revoke', () => {
  it('are named where something is missing: at the start, by why, by info and by the refusal', async () => {
    const line = 'hotcell grant asks net=api.example.com kv';
    expect(daemon.first).toContain(line);
    expect((await terminal.run(['why', 'asks'])).out).toContain(line);
    expect((await terminal.run(['plugin', 'info', 'asks'])).out).toContain(line);
    expect((await terminal.run(['grant', 'asks'])).err).toContain(line);
    expect((await terminal.run(['call', 'asks'])).err).toContain('Allow it with: hotcell grant asks kv');
  });

  it('give what is named, then the rest with the difference shown, and take it back', async () => {
    const first = await terminal.run(['grant', 'asks', 'kv=true']);
    expect([first.code, first.out]).toEqual([0, expect.stringContaining('pending: net=api.example.com')]);
    expect((await terminal.run(['call', 'asks'])).out).toBe('kept\n');
    const rest = await terminal.run(['grant', 'asks', '--requested']);
    expect(rest.out).toMatch(/has +kv\nasks for +net=api\.example\.com\n[\s\S]*asks is ready/);
    expect((await terminal.run(['grant', 'asks', '--requested'])).code).toBe(1);
    const listed = await terminal.run(['grants', 'asks']);
    expect(listed.out).toMatch(/asks .*local +always +kv\nasks .*always +net=api\.example\.com/);
    expect((await terminal.run(['plugin', 'info', 'asks'])).out).toMatch(
      /used in 30 days +kv\n +never used +net=api\.example\.com/,
    );
    expect((await terminal.run(['revoke', 'asks', 'net=api.example.com'])).out).toContain('Taken back: net=api.example.com');
    expect((await terminal.run(['revoke', 'asks'])).out).toMatch(/Taken back: kv\nasks is pending-grant/);
    expect(await terminal.run(['revoke', 'asks'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Nothing was taken back'),
    });
    expect(await terminal.run(['revoke', 'asks', 'net'])).toMatchObject({ code: 2, err: expect.not.stringContaining('body') });
    expect((await terminal.run(['grants'])).out).toContain('No grants');
    expect(JSON.parse((await terminal.run(['grants', '--all', '--json'])).out).items).toMatchObject([
      { status: 'revoked' },
      { status: 'revoked' },
    ]);
  });

  it('show what a saved plugin waits for, and what was given and taken, in the terminal of the daemon', async () => {
    terminal.write('plugins/later.ts', asks.replaceAll('asks', 'later'));
    await until(() => daemon.text().includes('Answer it: hotcell approve later'), 'the line to paste');
    const told = daemon
      .text()
      .split('\n')
      .filter((line) => line.includes('later') && line.includes('net=api.example.com'));
    expect(told).toEqual([expect.stringContaining('asks for: net=api.example.com kv')]);
    expect(daemon.text()).toMatch(/asks granted: kv by local[\s\S]*asks revoked: kv by local/);
  });

  it('refuse what cannot be meant', async () => {
    for (const words of [
      ['nett=a.com'],
      ['net=http://a.com'],
      ['kv', '--requested'],
      ['kv', '--once', '--session', 's'],
      ['kv', '--until', 'soon'],
      ['kv', '--until', '2001-01-01'],
      ['kv', '--caller', 'key_1'],
    ]) {
      expect([words, (await terminal.run(['grant', 'asks', ...words])).code]).toEqual([words, 2]);
    }
    expect((await terminal.run(['grant', 'nobody', 'kv'])).code).toBe(1);
  });

  it('need an admin', async () => {
    const env = { HOTCELL_TOKEN: JSON.parse((await terminal.run(['key', 'create', '--json'])).out).key };
    for (const argv of [['grants'], ['revoke', 'asks'], ['grant', 'asks', 'kv']]) {
      expect([argv, (await terminal.run(argv, { env })).code]).toEqual([argv, 4]);
    }
  });
});
