import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePermissions } from '../../src/permissions/parse.ts';

function read(value: unknown): unknown {
  const parsed = parsePermissions(value);
  return parsed.ok ? parsed.permissions : parsed.message;
}

describe('parsePermissions', () => {
  it('brings every key into its one spelling', () => {
    expect(
      read({
        net: [
          'API.Example.com',
          'api.example.com.',
          'b.example.com:08443',
          '*.Example.org:443',
          '[0:0::1]:80',
          '10.0.0.5',
          'bücher.example',
        ],
        read: ['./data/', 'a//b/./c', '.'],
        write: ['out'],
        env: ['API_KEY', 'weather.units'],
        run: ['ffmpeg'],
        tools: ['text_*', 'weather'],
        llm: 1000,
        kv: { quotaBytes: 100, shared: true },
        sharedCell: true,
      }),
    ).toEqual({
      net: ['api.example.com', 'b.example.com:8443', '*.example.org:443', '[::1]:80', '10.0.0.5', 'xn--bcher-kva.example'],
      read: ['data', 'a/b/c', '.'],
      write: ['out'],
      env: ['API_KEY', 'weather.units'],
      run: ['ffmpeg'],
      tools: ['text_*', 'weather'],
      llm: 1000,
      kv: { quotaBytes: 100, shared: true },
      sharedCell: true,
    });
  });

  it('takes nothing, false and empty lists as asking for nothing', () => {
    expect(read(undefined)).toEqual({});
    expect(read({ net: [], read: false, kv: false, llm: undefined })).toEqual({});
    expect(read({ kv: {} })).toEqual({ kv: true });
  });

  it.each([
    ['https://api.example.com', 'scheme'],
    ['api.example.com/v1', 'path'],
    ['10.0.0.0/8', 'path'],
    ['*', 'every host'],
    ['*:443', 'every host'],
    ['*.com', 'top-level'],
    ['api.*.com', 'wildcard in the wrong place'],
    ['*example.com', 'wildcard in the wrong place'],
    ['*.10.0.0.1', 'wildcard in the wrong place'],
    ['user@example.com', 'user-info'],
    ['::1', 'write it as [::1]'],
    ['[fe80::1%eth0]', 'zone'],
    ['example.com:0', 'port outside'],
    ['example.com:65536', 'port outside'],
    ['example.com:http', 'no host'],
    ['0x7f.1', 'write it as 127.0.0.1'],
    ['2130706433', 'write it as 127.0.0.1'],
    ['a b', 'white space'],
    ['exa%6dple.com', 'encoded'],
    ['', 'empty'],
    ['-a.com', 'no host'],
    [`${'a'.repeat(64)}.com`, 'no host'],
  ])('refuses the host %j and says what it takes it for', (host, reason) => {
    expect(read({ net: [host] })).toContain(reason);
  });

  it.each([
    '/etc',
    '../x',
    'a/../b',
    'a\\b',
    'a\0b',
    '.env',
    'a/.ENV.local',
    '.Git',
    'SECRETS/x',
    '%2e%2e/x',
    'C:/x',
    '~/x',
    '*',
    'a/**',
  ])('refuses the path %j', (path) => {
    expect(read({ read: [path] })).toContain('permissions.read');
    expect(read({ write: [path] })).toContain('permissions.write');
  });

  it('names the right form where true is written for a list', () => {
    expect(read({ net: true })).toBe('permissions.net takes a list, not true: name what is needed, such as ["api.example.com"].');
    expect(read({ env: 'API_KEY' })).toBe('permissions.env must be a list such as ["API_KEY"]; got "API_KEY".');
  });

  it('names an unknown key and the near one', () => {
    expect(parsePermissions({ network: ['a.com'] })).toMatchObject({ ok: false, key: 'network' });
    expect(read({ nett: ['a.com'] })).toContain('Did you mean "net"?');
    expect(read({ nett: ['a.com'], envs: ['A'], fs: true })).toMatch(/no key "nett".*no key "envs".*"env"\?.*no key "fs"\./);
    expect(read({ kv: { quota: 1 } })).toContain('Did you mean "quotaBytes"?');
    expect(read(JSON.parse('{"__proto__": ["a"]}'))).toContain('no key "__proto__"');
    expect(read({ constructor: ['a'] })).toContain('no key "constructor"');
  });

  it.each([
    [{ llm: 0 }],
    [{ llm: 1.5 }],
    [{ llm: '5' }],
    [{ kv: 5 }],
    [{ kv: { quotaBytes: -1 } }],
    [{ kv: { shared: 1 } }],
    [{ sharedCell: 1 }],
    [{ env: ['A B'] }],
    [{ env: ['HOTCELL_TOKEN'] }],
    [{ env: ['hotcell_token'] }],
    [{ run: ['/bin/sh'] }],
    [{ run: ['ls -l'] }],
    [{ tools: ['a@1'] }],
    [{ net: [1] }],
    [{ net: Array.from({ length: 101 }, (_, index) => `h${index}.example.com`) }],
    [null],
    [[]],
    ['net'],
  ])('refuses %j', (value) => {
    expect(parsePermissions(value).ok).toBe(false);
  });

  it('never throws, and what it read reads as itself', () => {
    const list = fc.array(fc.oneof(fc.string(), fc.domain(), fc.ipV4(), fc.ipV6(), fc.webPath()), { maxLength: 4 });
    const block = fc.dictionary(
      fc.constantFrom('net', 'read', 'write', 'env', 'run', 'tools', 'dangerous', 'engine', 'llm', 'kv'),
      fc.oneof(list, fc.anything()),
    );
    fc.assert(
      fc.property(block, (value) => {
        const parsed = parsePermissions(value);
        if (parsed.ok) expect(parsePermissions(parsed.permissions)).toEqual(parsed);
      }),
    );
  });

  it('reads every domain and address it is given in the same spelling again', () => {
    const host = fc.oneof(
      fc.domain(),
      fc.domain().map((domain) => `*.${domain}`),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    fc.assert(
      fc.property(host, (text) => {
        const parsed = parsePermissions({ net: [text] });
        expect(parsed.ok).toBe(true);
        if (parsed.ok) expect(parsePermissions(parsed.permissions)).toEqual(parsed);
      }),
    );
  });
});
