import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenPlugin, echoPlugin, openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  terminal = openTerminal({
    'hotcell.config.yaml': 'workers: { min: 1, max: 1 }\n',
    'plugins/echo.ts': echoPlugin,
    'plugins/broken.ts': brokenPlugin,
  });
  daemon = await terminal.start([], { isTTY: true });
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

async function readJson(argv: readonly string[]): Promise<ReturnType<typeof JSON.parse>> {
  const said = await terminal.run([...argv, '--json']);
  expect([argv, said.code, said.err]).toEqual([argv, 0, '']);
  return JSON.parse(said.out);
}

/** Waits for something that the daemon prints. */
async function untilSaid(pattern: RegExp): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!pattern.test(daemon.text())) {
    if (Date.now() > deadline) throw new Error(`the daemon never said ${pattern}: ${daemon.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('hotcell start in a terminal', () => {
  it('tells what it loaded, what it could not and why, and what to paste', () => {
    expect(daemon.first).toMatch(/✓ echo 1\.0\.0/);
    expect(daemon.first).toMatch(/broken\.ts:\d+:\d+/);
    expect(daemon.first).toContain('Fix:');
    expect(daemon.first).toContain('hotcell call echo text=a');
    expect(daemon.first).toContain('$(cat .hotcell/token)');
  });

  it('keeps its token and address to its owner', () => {
    for (const file of ['token', 'daemon.json']) expect(statSync(join(terminal.cwd, '.hotcell', file)).mode & 0o077).toBe(0);
  });

  it('prints a line for a reload, and the frame of what broke', async () => {
    terminal.write('plugins/echo.ts', echoPlugin.replace('Says it again', 'Says it once more'));
    await untilSaid(/✓ echo ready generation 2 \(.*ms\)/);
    terminal.write('plugins/echo.ts', echoPlugin.replace('default {', 'default {{'));
    await untilSaid(/✗ echo .*echo\.ts:1:\d+/);
    terminal.write('plugins/echo.ts', echoPlugin);
    await untilSaid(/(✓ echo ready[^\n]*\n[\s\S]*){2}/);
  });
});

describe('runCli with a daemon', () => {
  it('lists and shows plugins and tools', async () => {
    expect((await readJson(['plugin', 'list'])).items.map((item: { name: string }) => item.name)).toEqual(['broken', 'echo']);
    expect(await readJson(['plugin', 'info', 'echo'])).toMatchObject({ name: 'echo', state: 'ready' });
    expect((await readJson(['tool', 'list', 'again'])).items).toMatchObject([{ ref: 'echo@1.0.0' }]);
    expect(await readJson(['tool', 'info', 'echo'])).toMatchObject({ input: { required: ['text'] } });
    expect((await terminal.run(['plugin', 'list'])).out).toMatch(/NAME +VERSION +STATE[\s\S]*broken +0\.0\.0 +failed/);
  });

  it('tells why, with the frame', async () => {
    const { code, out } = await terminal.run(['why', 'broken']);
    expect([code, out]).toEqual([0, expect.stringMatching(/broken is failed[\s\S]*loading +failed[\s\S]*broken\.ts:\d/)]);
    expect((await readJson(['why', 'echo'])).items.at(-1)).toMatchObject({ to: 'ready' });
    expect((await terminal.run(['why', 'ecko'])).err).toContain('echo');
  });

  it('answers the truth about an explicit reload', async () => {
    expect((await terminal.run(['plugin', 'reload', 'echo'])).code).toBe(0);
    const broken = await terminal.run(['plugin', 'reload', 'broken']);
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('broken.ts:')]);
    expect((await terminal.run(['plugin', 'reload', '--all'])).code).toBe(1);
    expect((await terminal.run(['plugin', 'reload'])).code).toBe(2);
  });

  it('calls over HTTP and lists the executions', async () => {
    expect((await terminal.run(['call', 'echo', 'text=called'])).code).toBe(0);
    const [newest] = (await readJson(['executions', 'list', '--tool', 'echo'])).items;
    expect(newest).toMatchObject({ status: 'success', arguments: { text: 'called' } });
    expect((await terminal.run(['executions', 'show', newest.id])).out).toContain('"called"');
    expect(await readJson(['executions', 'cancel', newest.id])).toEqual({ id: newest.id, cancelled: false });
    expect((await terminal.run(['executions', 'show', 'exe_nothing'])).code).toBe(1);
  });

  it('disables and enables, keeps history and goes back', async () => {
    expect((await terminal.run(['plugin', 'disable', 'echo'])).code).toBe(0);
    expect((await terminal.run(['call', 'echo', 'text=a'])).code).toBe(1);
    expect((await terminal.run(['plugin', 'enable', 'echo'])).code).toBe(0);
    expect((await terminal.run(['call', 'echo', 'text=a'])).code).toBe(0);
    expect((await readJson(['plugin', 'history', 'echo'])).items.length).toBeGreaterThan(1);
    expect(await readJson(['plugin', 'rollback', 'echo', '2'])).toMatchObject({ ok: true, generation: 2 });
    expect((await terminal.run(['plugin', 'rollback', 'echo', 'x'])).code).toBe(2);
  });

  it('makes keys that work by their role, and revokes them', async () => {
    const { id, key } = await readJson(['key', 'create', '--name', 'chat']);
    const env = { HOTCELL_TOKEN: key };
    expect((await terminal.run(['call', 'echo', 'text=a'], { env })).code).toBe(0);
    expect((await terminal.run(['plugin', 'list'], { env })).code).toBe(4);
    expect((await terminal.run(['key', 'revoke', id])).code).toBe(0);
    expect((await terminal.run(['call', 'echo', 'text=a'], { env })).code).toBe(4);
    expect((await terminal.run(['key', 'list'])).out).toMatch(/revoked +chat/);
  });

  it('shows what happened to a plugin', async () => {
    expect((await terminal.run(['plugin', 'logs', 'echo'])).out).toMatch(/echo success/);
  });

  it('deletes only when told twice', async () => {
    terminal.write('plugins/passing.ts', echoPlugin.replaceAll('echo', 'passing'));
    await untilSaid(/passing ready/);
    expect((await terminal.run(['plugin', 'remove', 'passing'])).code).toBe(2);
    expect((await terminal.run(['plugin', 'remove', 'passing', '--yes'])).code).toBe(0);
    expect(existsSync(join(terminal.cwd, 'plugins', 'passing.ts'))).toBe(false);
  });

  it('refuses a second daemon on the same folder, or on the same port', async () => {
    expect((await terminal.run(['start', '--port', '0'])).code).toBe(1);
    const port = /127\.0\.0\.1:(\d+)/.exec(daemon.first)?.[1] ?? '';
    const second = await terminal.run(['start', '--port', port, '--data', '.other']);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(port)]);
  });
});

describe('hotcell start as a service', () => {
  it('logs JSON lines, and leaves no address behind when it ends', async () => {
    const other = openTerminal({ 'plugins/echo.ts': echoPlugin });
    const service = await other.start();
    const file = join(other.cwd, '.hotcell', 'daemon.json');
    expect(existsSync(file)).toBe(true);
    const { code, out } = await service.stop();
    expect([code, existsSync(file)]).toEqual([0, false]);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.msg)).toEqual(
      expect.arrayContaining([expect.stringContaining('listening on http://127.0.0.1:')]),
    );
    other.close();
  });
});

describe('hotcell plugin logs --follow', () => {
  it('shows what handlers log, until it is interrupted', async () => {
    terminal.write(
      'plugins/logs.ts',
      `export default { name: 'logs', handler: (args: {}, context: any) => context.log.info('a line of mine') };`,
    );
    await untilSaid(/logs ready/);
    const ending = new AbortController();
    const seen = Promise.withResolvers<void>();
    const following = terminal.run(['plugin', 'logs', 'logs', '--follow'], {
      signal: ending.signal,
      onOut: (out) => {
        if (out.includes('a line of mine')) seen.resolve();
      },
    });
    // The stream may open after the first call: calls go on until one of them is seen.
    let isSeen = false;
    const done = seen.promise.then(() => {
      isSeen = true;
    });
    for (let count = 0; count < 100 && !isSeen; count++) await terminal.run(['call', 'logs']);
    await done;
    ending.abort();
    expect((await following).code).toBe(0);
  });
});

describe('hotcell call, executions show and plugin logs', () => {
  it('show what a call logs while it runs and afterwards', async () => {
    terminal.write(
      'plugins/talks.ts',
      `export default { name: 'talks', description: 'Talks.', handler: async (args: { fail?: boolean }, context: any) => {
  context.log.info('first', 1);
  context.progress(1, 2, 'half');
  console.warn('second');
  if (args.fail) throw new Error('no more');
  return 'said';
} };\n`,
    );
    await untilSaid(/✓ talks ready/);
    expect(await terminal.run(['call', 'talks'])).toEqual({
      code: 0,
      out: 'said\n',
      err: expect.stringMatching(/^info {2}first 1\nwarn {2}second\n1\/2 half\n$/),
    });
    const failed = await terminal.run(['call', 'talks', 'fail:=true', '--full']);
    const { executionId } = JSON.parse(failed.out);
    const shown = await terminal.run(['executions', 'show', executionId]);
    expect(shown.out).toMatch(/Log\n.* info {2}first 1\n.* warn {2}second\n/);
    const { logs } = await readJson(['executions', 'show', executionId]);
    expect(logs).toMatchObject([
      { level: 'info', text: 'first 1' },
      { level: 'warn', text: 'second' },
    ]);
    const told = await terminal.run(['plugin', 'logs', 'talks']);
    expect(told.out).toMatch(/first 1\n.*second\n.*success[\s\S]*first 1\n.*second\n.*error handler-threw/);
  });

  it('end without a fault when somebody interrupts a call that runs', async () => {
    terminal.write(
      'plugins/waits.ts',
      `export default { name: 'waits', description: 'Waits.', handler: async (_args: {}, context: any) => {
  context.log.info('begun');
  await new Promise((resolve) => setTimeout(resolve, 20000));
} };\n`,
    );
    await untilSaid(/✓ waits ready/);
    const ending = new AbortController();
    const onErr = (err: string) => err.includes('begun') && ending.abort();
    const said = await terminal.run(['call', 'waits'], { signal: ending.signal, onErr });
    expect(said).toEqual({ code: 130, out: '', err: 'info  begun\n' });
  });
});
