import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './terminal.ts';

const value = 'wk-2f9c81a7d3';

let terminal: Terminal;
let daemon: Awaited<ReturnType<Terminal['start']>>;
beforeAll(async () => {
  const config = 'workers: { min: 1, max: 1 }\nsecrets:\n  MAPS: { env: NOT_SET, hosts: [maps.example.com], query: key }\n';
  terminal = openTerminal({ 'hotcell.config.yaml': config });
  daemon = await terminal.start();
});
afterAll(async () => {
  await daemon.stop();
  terminal.close();
});

const set = (words: readonly string[], stdin = `${value}\n`) => terminal.run(['secret', 'set', ...words], { stdin });

describe('hotcell secret', () => {
  it('keeps what it reads, shows where it may go, and removes it, without ever showing it', async () => {
    const kept = await set(['KEY', '--host', 'api.example.com', 'b.example.com', '--header', 'X-Key']);
    expect([kept.code, kept.out]).toEqual([
      0,
      '✓ KEY may go into the header x-key of requests to api.example.com, b.example.com.\n',
    ]);
    const listed = await terminal.run(['secret']);
    expect(listed.out).toMatch(/KEY +store +usable +the header x-key/);
    expect(listed.out).toMatch(/MAPS +config +has no value: the environment variable NOT_SET is not set/);
    const json = await terminal.run(['secret', 'list', '--json']);
    expect(JSON.parse(json.out).items).toMatchObject([{ name: 'KEY', header: 'x-key', origin: 'store' }, { name: 'MAPS' }]);
    const removed = await terminal.run(['secret', 'remove', 'KEY']);
    expect([removed.code, removed.out]).toEqual([0, '✓ KEY is removed.\n']);
    expect((await terminal.run(['secret', 'remove', 'KEY'])).code).toBe(1);
    for (const { out, err } of [kept, listed, json, removed, { out: daemon.text(), err: '' }])
      expect(out + err).not.toContain(value);
    expect(daemon.text()).toContain('secret-change KEY');
  });

  it('says what is wrong without the value', async () => {
    const inTwoLines = await set(['KEY', '--host', 'a.com', '--header', 'x-key'], `${value}\r\nX-Admin: 1\n`);
    expect([inTwoLines.code, inTwoLines.err]).toEqual([1, expect.stringContaining('line break')]);
    expect(inTwoLines.err).not.toContain(value);
    expect((await set(['KEY', '--host', 'a.com'])).err).toContain('either --header or --query');
    expect((await set(['KEY', '--header', 'x'])).code).toBe(2);
    expect((await set(['KEY', value, '--host', 'a.com', '--header', 'x'])).code).toBe(2);
    expect((await set(['MAPS', '--host', 'a.com', '--header', 'x'])).err).toContain('stands in the config');
  });

  it('is for admins alone', async () => {
    const key = (await terminal.run(['key', 'create', '--role', 'caller'])).out.trim();
    for (const words of [['list'], ['remove', 'KEY'], ['set', 'KEY', '--host', 'a.com', '--header', 'x']]) {
      const said = await terminal.run(['secret', ...words], { stdin: value, env: { HOTCELL_TOKEN: key } });
      expect([words, said.code, said.err]).toEqual([words, expect.any(Number), expect.stringContaining('needs the role admin')]);
    }
  });
});
