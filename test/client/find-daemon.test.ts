import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { locateDaemon } from '../../src/client/find-daemon.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-locate-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

/** What a file `daemon.json` makes of a command whose operator has a token in the environment. */
function locate(url: string, env: NodeJS.ProcessEnv = { HOTCELL_TOKEN: 'precious' }) {
  writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify({ url, pid: 1, version: '0.1.0' }));
  return locateDaemon({ env, dataDir });
}

describe('locateDaemon', () => {
  it.each([
    'http://evil.example:7420',
    'http://127.0.0.1@evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.1.evil',
    'http://192.0.2.1:7420',
    'http://[2001:db8::1]:7420',
    'https://evil.example',
    'nonsense',
  ])('sends no token to %s, which a file that came with a clone names', (url) => {
    expect(() => locate(url)).toThrow(expect.objectContaining({ code: 'daemon-unreachable' }));
    expect(() => locate(url)).toThrow('no token is sent');
  });

  it('takes a daemon of this machine from the file, and any that the operator names', () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const addresses = own.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
    for (const host of ['127.0.0.1', 'localhost', '[::1]', ...addresses]) {
      expect(locate(`http://${host}:7420/`)).toMatchObject({ url: `http://${host}:7420`, token: 'precious' });
    }
    const env = { HOTCELL_URL: 'https://tools.example', HOTCELL_TOKEN: 'precious' };
    expect(locate('http://evil.example', env)).toMatchObject({ url: 'https://tools.example', isExplicit: true });
  });
});
