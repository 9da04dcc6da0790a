import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameRunner } from '../../../../src/units/unit.ts';
import { startSmallDaemon } from '../../../small-daemon.ts';
import { buildText, moduleOf } from './build-fixture.ts';

const source = (version: string, name: string) => `import { createHash, createHmac } from 'node:crypto';
import { Buffer } from 'node:buffer';

let seed = 7;
const draw = (below: number) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % below; };
const heads = [0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0xa0, 0x9f, 0x8f, 0x90, 0xbb];
const bytes = (size: number) => Uint8Array.from({ length: size }, () => heads[draw(heads.length)] ?? 0);
const attempt = (act: () => unknown) => { try { return act(); } catch (error: any) { return error.name; } };
const encodings = ['utf8', 'utf16le', 'latin1', 'base64', 'base64url', 'hex', 'ascii'] as BufferEncoding[];
const urls = ['http://a', 'HTTP://User:p%40ss@EXAMPLE.com:80/../x/./y?q=a b#h', 'https://[::1]:8443/', 'http://0x7f.1/', 'file:///C:/a/../b', 'mailto:a@b', 'data:text/plain,x', 'http://ex ample', '//no', 'http://münchen.de/ü?ü#ü', 'http://a:99999/', 'ftp://h/%zz', 'javascript:1', 'http://a/b;c=1,2', 'https://xn--mnchen-3ya.de/'];

export default {
  name: '${name}', version: '${version}', description: 'Uses the web API.', permissions: {},
  handler: ({ how }: { how: string }) => {
    seed = 7;
    const many = Array.from({ length: 120 }, (_, at) => bytes(at % 9));
    if (how === 'decoder') return many.flatMap((each) => [
      new TextDecoder().decode(each), attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(each)),
      new TextDecoder('utf-16le').decode(each), attempt(() => new TextDecoder('utf-16be', { fatal: true }).decode(each)),
      new TextDecoder('utf8', { ignoreBOM: true }).decode(each),
    ]);
    if (how === 'stream') return many.map((each) => { const decoder = new TextDecoder(); return [...each].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true })).join('|') + decoder.decode(); });
    if (how === 'buffer') return many.flatMap((each) => encodings.map((encoding) => { const text = Buffer.from(each).toString(encoding); return [text, [...Buffer.from(text, encoding)]]; }));
    if (how === 'encoder') return ['', 'a\\u0000b', '\\ud83d\\ude00', '\\ud83d', 'x\\udc00y', '\\ufeffa'].map((text) => [...new TextEncoder().encode(text)]);
    if (how === 'base64') return ['', 'YQ', 'YQ==', 'YQ=', ' Y W\\nI=', 'YWI*', 'AAAA=', 'YWJj', '=', 'YQ==='].map((text) => attempt(() => atob(text))).concat(['', 'a', 'ab', 'abc', '\\u00ff', '\\u0100'].map((text) => attempt(() => btoa(text))));
    if (how === 'url') return urls.map((text) => attempt(() => { const url = new URL(text, 'https://base.example/a/b?c'); url.searchParams.append('k', 'ä +'); url.hash = 'z'; url.port = '81'; return [url.href, url.origin, url.host, url.pathname]; }));
    if (how === 'query') return ['?a=1&a=2', 'a=%zz&b', '=x&y=', 'a+b=%C3%A9', '&&', 'a=b=c'].map((text) => { const query = new URLSearchParams(text); return [[...query], query.toString()]; });
    if (how === 'hashes') return many.slice(0, 20).flatMap((each) => ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((name) => [createHash(name).update(each).digest('hex'), createHmac(name, each).update('data').digest('base64')]));
    if (how === 'locale') return [[1234567.891, -0.5, 1e6, 12, 999.9996].map((value) => value.toLocaleString()), ['b', 'B', 'a', 'é', 'e', 'z', 'Z', '10', '9', 'ab', 'a b', 'é1'].sort((x, y) => x.localeCompare(y)), 'Straße'.toLocaleUpperCase()];
    if (how === 'dates') return [new Date(0).toISOString(), Date.UTC(2024, 1, 30), new Date('2024-02-30T10:00:00Z').getTime(), JSON.stringify(new Date(86400000))];
    return structuredClone({ map: [...structuredClone(new Map([[1, { a: [undefined] }]]))], error: structuredClone(new RangeError('x')).message });
  },
};
`;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-web-'));
let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  writeFileSync(join(folder, 'web.wasm'), moduleOf(await buildText('web.ts', source('1.0.0', 'web_built'))));
  daemon = await startSmallDaemon({ 'web.ts': source('1.0.0', 'web') }, { wasmDirs: [folder] });
});
afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the web API of a built module', () => {
  it('is tried on two engines', () => {
    const engines = ['web', 'web_built'].map((name) => nameRunner(daemon.parts.tools.resolve(name).served.unit.runner));
    expect(engines).toEqual(['quickjs', 'extism']);
  });

  it.each(['decoder', 'stream', 'buffer', 'encoder', 'base64', 'url', 'query', 'hashes', 'locale', 'dates', 'clone'])(
    'gives what it gives in the sandbox of the daemon: %s',
    async (how) => {
      const wanted = await daemon.call('web', { how });
      expect(wanted).toMatchObject({ status: 'success' });
      expect(await daemon.call('web_built', { how })).toMatchObject({ status: 'success', output: wanted.output });
    },
  );
});
