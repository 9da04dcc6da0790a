import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleNodeBuiltins, nodeBuiltinShims } from '../../../src/guests/node-builtins.ts';
import { runInNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

const requireInNode = createRequire(import.meta.url);

let guest: WebGuest;
let texts: Readonly<Record<string, string>>;
beforeAll(async () => {
  guest = await startWebGuest();
  texts = await bundleNodeBuiltins();
});
afterAll(() => guest.close());

/** Runs a body whose `require` names built-ins, shims and stand-ins alike, as a package would. */
async function run(body: string): Promise<unknown> {
  const result = await build({
    stdin: { contents: `globalThis.bodyForTest = async () => {${body}\n};`, loader: 'js' },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    target: 'es2023',
    plugins: [
      {
        name: 'builtins',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /.*/ }, ({ path }) => ({ path: path.replace(/^node:/, ''), namespace: 'builtin' }));
          onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: texts[path] ?? '', loader: 'js' }));
        },
      },
    ],
  });
  return guest.run(`${result.outputFiles[0]?.text}\nreturn globalThis.bodyForTest();`);
}

const withoutMember = (name: string, member: string): string =>
  `${name}.${member} is refused: the sandbox has the Node built-in "${name}" without it. The engines deno and docker have it: write engine: 'deno' in the plugin.`;

const attempt = `const attempt = async (make) => { try { return await make(); } catch (error) { return [error.name, error.message]; } };`;

describe('what packages for Node look at', () => {
  it('is a process that shows nothing of the machine and refuses by name', async () => {
    const body = `${attempt} const ticks = []; process.nextTick((value) => ticks.push(value), 1); await null;
      process.env.OWN = 2;
      return [process.env.SECRET === undefined, process.env.OWN, 'SECRET' in process.env, process.cwd(), process.platform, ticks,
        typeof process.hrtime.bigint(), process.hrtime().length, process.on('exit', () => {}) === process, require('node:process') === process,
        (await attempt(() => process.exit(3)))[1]];`;
    expect(await run(body)).toEqual([
      true,
      '2',
      false,
      '/',
      'linux',
      [1],
      'bigint',
      2,
      true,
      true,
      'process.exit() is refused: a plugin is no process of its own. The plugin wanted to end with exit code 3: throw an error instead.',
    ]);
  });

  it('are streams', async () => {
    const body = `const { Readable, Transform, PassThrough } = require('stream'); const { pipeline } = require('stream/promises');
      const upper = new Transform({ transform(chunk, _encoding, done) { done(null, String(chunk).toUpperCase()); } });
      const out = new PassThrough(); const chunks = []; out.on('data', (chunk) => chunks.push(String(chunk)));
      await pipeline(Readable.from(['a', 'b']), upper, out);
      return [chunks.join(''), upper instanceof require('events'), await require('stream/consumers').text(Readable.from(['x', 'y']))];`;
    expect(await run(body)).toEqual(['AB', true, 'xy']);
  });

  it('load where the sandbox has nothing behind them, and are refused at use with what to use instead', async () => {
    const body = `${attempt} const { Agent, METHODS, STATUS_CODES, request } = require('http'); const fs = require('fs'); const net = require('node:net');
      class Own extends require('http').IncomingMessage {}
      new Agent({ keepAlive: true });
      return [METHODS.includes('GET'), STATUS_CODES[404], typeof Own, fs.existsSync('/etc/passwd'), net.isIP('::1'), net.isIP('1.2.3.4'), net.isIP('x'),
        await attempt(() => request('http://a')), await attempt(() => fs.promises.readFile('/etc/passwd')), await attempt(() => new Own())];`;
    const refused = (member: string, name: string, instead: string) => [
      'BuiltinRefused',
      `${member} is refused: the sandbox has no Node built-in "${name}". ${instead}`,
    ];
    expect(await run(body)).toEqual([
      true,
      'Not Found',
      'function',
      false,
      6,
      4,
      0,
      refused('http.request', 'http', 'Use fetch with the permission "net".'),
      refused('fs.promises.readFile', 'fs', 'Use context.files, which reads and writes in the workspace of the caller.'),
      refused('http.IncomingMessage', 'http', 'Use fetch with the permission "net".'),
    ]);
  });

  it('refuse paths of Windows where they are used, with the engines that have them', async () => {
    const body = `${attempt} const path = require('node:path'); const { win32 } = require('path/posix');
      return [path.win32.sep, await attempt(() => path.win32.join('a', 'b')), await attempt(() => win32.basename('a'))];`;
    const refused = (member: string) => ['BuiltinRefused', withoutMember('path', `win32.${member}`)];
    expect(await run(body)).toEqual(['\\', refused('join'), refused('basename')]);
  });

  it('have each function of their built-in, or refuse it by name', async () => {
    const builtins = [...nodeBuiltinShims.keys()].filter((name) => name !== 'process');
    for (const name of builtins) {
      const functions = Object.entries(requireInNode(`node:${name}`)).flatMap(([member, value]) =>
        typeof value === 'function' && !member.startsWith('_') ? member : [],
      );
      const lacking = await run(
        `const shim = require('${name}'); return ${JSON.stringify(functions)}.filter((member) => typeof shim[member] !== 'function');`,
      );
      expect([name, lacking]).toEqual([name, []]);
    }
    const body = `${attempt} return [await attempt(() => require('stream').duplexPair()), await attempt(() => require('util').types.isProxy({})),
      await attempt(() => new (require('util').MIMEType)('a/b')), await attempt(() => require('assert').partialDeepStrictEqual({}, {}))];`;
    expect(await run(body)).toEqual(
      [
        withoutMember('stream', 'duplexPair'),
        withoutMember('util/types', 'isProxy'),
        withoutMember('util', 'MIMEType'),
        withoutMember('assert', 'partialDeepStrictEqual'),
      ].map((message) => ['BuiltinRefused', message]),
    );
  }, 120_000);

  it.each([
    [
      'checksums and zstd',
      `const zlib = require('zlib'); return [zlib.crc32('abc'), zlib.crc32(Buffer.from('abc'), 5), zlib.zstdDecompressSync(zlib.zstdCompressSync('text')).toString()];`,
    ],
    [
      'streams of Node as those of the web',
      `const { Readable, Writable } = require('stream'); const seen = [];
      for await (const chunk of Readable.toWeb(Readable.from(['a', 'b']))) seen.push(chunk);
      seen.push(await new Response(Readable.toWeb(Readable.from([Buffer.from('c'), Buffer.from('d')]))).text());
      const source = Readable.from(['x', 'y']); const reader = Readable.toWeb(source).getReader(); await reader.read(); await reader.cancel(); await new Promise((resolve) => setTimeout(resolve, 1));
      const writer = Writable.toWeb(new Writable({ write(chunk, _encoding, done) { seen.push(String(chunk)); done(); }, final(done) { seen.push('end'); done(); } })).getWriter();
      await writer.write('e'); await writer.write(new Uint8Array([102])); await writer.close();
      return [seen, source.destroyed];`,
    ],
    [
      'streams of the web as those of Node',
      `const { Duplex, Readable, Writable } = require('stream'); const seen = []; const decode = (bytes) => new TextDecoder().decode(bytes);
      for await (const chunk of Readable.fromWeb(new Response('hello').body)) seen.push(String(chunk));
      const sink = Writable.fromWeb(new WritableStream({ write(chunk) { seen.push(decode(chunk)); }, close() { seen.push('closed'); } }));
      sink.write('x'); sink.end('y'); await require('stream/promises').finished(sink);
      const upper = Duplex.fromWeb(new TransformStream({ transform(chunk, controller) { controller.enqueue(new TextEncoder().encode(decode(chunk).toUpperCase())); } }));
      upper.end('shout'); for await (const chunk of upper) seen.push(String(chunk));
      return seen;`,
    ],
    [
      'classes that extend those of zlib',
      `const zlib = require('zlib'); const seen = [];
      class Counting extends zlib.DeflateRaw { push(chunk, encoding) { seen.push(chunk === null); return super.push(chunk, encoding); } _transform(chunk, encoding, done) { if (chunk.length > 0) seen.push(chunk.length); super._transform(chunk, encoding, done); } }
      const packed = []; const counting = new Counting({ level: 9 }); counting.on('data', (chunk) => packed.push(chunk)); counting.end('hello'); await new Promise((resolve) => counting.on('end', resolve));
      return [seen, zlib.inflateRawSync(Buffer.concat(packed)).toString(), zlib.createGzip() instanceof zlib.Gzip, zlib.Gzip.name];`,
    ],
    [
      'how many listeners are usual',
      `const EventEmitter = require('events'); const one = new EventEmitter(); EventEmitter.setMaxListeners(7, one); EventEmitter.setMaxListeners(12);
      const result = [EventEmitter.getMaxListeners(one), new EventEmitter().getMaxListeners(), EventEmitter.defaultMaxListeners]; EventEmitter.setMaxListeners(10); return result;`,
    ],
    [
      'small members',
      `return [require('buffer').Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1).length, await require('timers').promises.setTimeout(1, 'over'), require('util').types.isExternal({})];`,
    ],
    [
      'ports, to which bytes and other ports are transferred',
      `const { port1, port2 } = new MessageChannel(); const inner = new MessageChannel(); const bytes = new Uint8Array([1, 2]);
      port1.postMessage({ bytes, port: inner.port1 }, [bytes.buffer, inner.port1]); port1.postMessage('second');
      const [first, second] = await new Promise((resolve) => { const heard = []; port2.on('message', (data) => { if (heard.push(data) === 2) resolve(heard); }); });
      first.port.postMessage('through'); const third = await new Promise((resolve) => { inner.port2.onmessage = ({ data }) => resolve(data); });
      const refused = await Promise.resolve().then(() => port1.postMessage({ port2 })).catch(({ name }) => name);
      inner.port2.close(); port1.close();
      return [bytes.byteLength, [...first.bytes], second, third, refused];`,
    ],
  ])('do as Node does: %s', async (_what, body) => {
    expect(await run(body)).toEqual(await runInNode(body));
  });

  it('pack and unpack, and a bomb is not unpacked', async () => {
    const body = `${attempt} const zlib = require('zlib'); const { Readable } = require('stream');
      const bomb = zlib.gzipSync(zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(1024 * 1024))), { level: 9 });
      const chunks = []; for await (const chunk of Readable.from([zlib.deflateSync('streamed')]).pipe(zlib.createInflate())) chunks.push(chunk);
      return [zlib.gunzipSync(zlib.gzipSync('text')).toString(), zlib.brotliDecompressSync(zlib.brotliCompressSync('text')).toString(), Buffer.concat(chunks).toString(),
        (await attempt(() => zlib.gunzipSync(bomb, { maxOutputLength: 1000 })))[1], (await attempt(() => zlib.gunzipSync('no')))[0],
        await new Response(new Blob(['web']).stream().pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'))).text()];`;
    expect(await run(body)).toEqual(['text', 'text', 'streamed', 'The unpacked data is larger than 1000 bytes.', 'Error', 'web']);
  });

  it('do what node:crypto does with keys', async () => {
    const body = `${attempt} const crypto = require('node:crypto');
      const { publicKey, privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const signature = crypto.createSign('SHA256').update('text').sign(privateKey);
      const pem = publicKey.export({ type: 'spki', format: 'pem' });
      const cipher = crypto.createCipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12)); const sealed = Buffer.concat([cipher.update('secret', 'utf8'), cipher.final()]);
      const open = crypto.createDecipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12)); open.setAuthTag(cipher.getAuthTag());
      return [crypto.createVerify('SHA256').update('text').verify(pem, signature), crypto.verify('SHA256', Buffer.from('other'), pem, signature),
        open.update(sealed, undefined, 'utf8') + open.final('utf8'), crypto.pbkdf2Sync('a', 'b', 10, 8, 'sha256').toString('hex'), crypto.scryptSync('a', 'b', 8, { N: 16 }).toString('hex'),
        Buffer.from(crypto.hkdfSync('sha256', 'k', 's', 'i', 8)).toString('hex'), (await attempt(() => crypto.pbkdf2Sync('a', 'b', 1e9, 8, 'sha256')))[1]];`;
    const { hkdfSync, pbkdf2Sync, scryptSync } = await import('node:crypto');
    expect(await run(body)).toEqual([
      true,
      false,
      'secret',
      pbkdf2Sync('a', 'b', 10, 8, 'sha256').toString('hex'),
      scryptSync('a', 'b', 8, { N: 16 }).toString('hex'),
      Buffer.from(hkdfSync('sha256', 'k', 's', 'i', 8)).toString('hex'),
      'pbkdf2 with sha256 takes 4000000 rounds at most for 8 bytes, asked for 1000000000.',
    ]);
  });

  it.each([
    ['HMAC', `{ name: 'HMAC', hash: 'SHA-256' }`, ['sign', 'verify'], 'raw', 'raw'],
    ['ECDSA', `{ name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }`, ['sign', 'verify'], 'pkcs8', 'spki'],
    ['Ed25519', `{ name: 'Ed25519' }`, ['sign', 'verify'], 'jwk', 'raw'],
    [
      'RSA-PSS',
      `{ name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), saltLength: 32 }`,
      ['sign', 'verify'],
      'jwk',
      'jwk',
    ],
    [
      'RSASSA-PKCS1-v1_5',
      `{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }`,
      ['sign', 'verify'],
      'pkcs8',
      'spki',
    ],
  ])('sign with %s in crypto.subtle, with keys that were exported and imported', async (_, algorithm, usages, own, other) => {
    const body = `const { subtle } = crypto; const algorithm = ${algorithm}; const made = await subtle.generateKey(algorithm, true, ${JSON.stringify(usages)});
      const [first, second] = made.privateKey ? [made.privateKey, made.publicKey] : [made, made];
      const privateKey = await subtle.importKey('${own}', await subtle.exportKey('${own}', first), algorithm, true, ['sign']);
      const publicKey = await subtle.importKey('${other}', await subtle.exportKey('${other}', second), algorithm, true, ['verify']);
      const data = new TextEncoder().encode('text'); const signature = await subtle.sign(algorithm, privateKey, data);
      return [await subtle.verify(algorithm, publicKey, signature, data), await subtle.verify(algorithm, publicKey, signature, data.slice(1)), privateKey.type, privateKey instanceof CryptoKey];`;
    expect(await run(body)).toEqual([true, false, usages.length > 0 && own === 'raw' ? 'secret' : 'private', true]);
  });

  it('encrypt and derive in crypto.subtle as Node does', async () => {
    const body = `${attempt} const { subtle } = crypto; const data = new TextEncoder().encode('text'); const show = (bytes) => Buffer.from(bytes).toString('hex');
      const iv = new Uint8Array(12); const aes = await subtle.importKey('raw', new Uint8Array(32), 'AES-GCM', false, ['encrypt', 'decrypt']);
      const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, aes, data);
      const password = await subtle.importKey('raw', data, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
      const derived = await subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: iv, iterations: 10 }, password, { name: 'AES-CBC', length: 128 }, true, ['encrypt']);
      const rsa = await subtle.generateKey({ name: 'RSA-OAEP', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, false, ['encrypt', 'decrypt']);
      const [a, b] = [await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits']), await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits'])];
      const agree = async (own, other) => show(await subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, 256));
      return [show(sealed), show(await subtle.decrypt({ name: 'AES-GCM', iv }, aes, sealed)), show(await subtle.exportKey('raw', derived)),
        show(await subtle.decrypt('RSA-OAEP', rsa.privateKey, await subtle.encrypt('RSA-OAEP', rsa.publicKey, data))), (await agree(a, b)) === (await agree(b, a)),
        (await attempt(() => subtle.decrypt({ name: 'AES-GCM', iv }, aes, new Uint8Array(sealed).fill(1))))[0], (await attempt(() => subtle.exportKey('raw', aes)))[0], (await attempt(() => subtle.importKey('raw', data, 'DES', true, [])))[0]];`;
    const { subtle } = crypto;
    const data = new TextEncoder().encode('text');
    const aes = await subtle.importKey('raw', new Uint8Array(32), 'AES-GCM', false, ['encrypt']);
    const sealed = Buffer.from(await subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, aes, data)).toString('hex');
    const { pbkdf2Sync } = await import('node:crypto');
    const derived = pbkdf2Sync('text', Buffer.alloc(12), 10, 16, 'sha256').toString('hex');
    const text = Buffer.from('text').toString('hex');
    expect(await run(body)).toEqual([
      sealed,
      text,
      derived,
      text,
      true,
      'OperationError',
      'InvalidAccessError',
      'NotSupportedError',
    ]);
  });

  it('call Buffer without new, extend URLSearchParams, capture a stack and post to a port', async () => {
    const body = `class Params extends URLSearchParams { *entries() { for (const key of super.keys()) yield [key, super.get(key)]; } [Symbol.iterator]() { return this.entries(); } }
      const target = {}; Error.captureStackTrace(target); const { port1, port2 } = new MessageChannel();
      const heard = new Promise((resolve) => { port2.onmessage = ({ data }) => resolve(data); }); port1.postMessage({ a: 1 });
      return [Buffer('a').toString('hex'), new Buffer.alloc(2).length, Object.keys(Buffer).includes('concat'), Buffer.from('a').constructor === Buffer, [...new Params('a=1')], typeof target.stack, await heard];`;
    expect(await run(body)).toEqual(['61', 2, true, true, [['a', '1']], 'string', { a: 1 }]);
  });
});
