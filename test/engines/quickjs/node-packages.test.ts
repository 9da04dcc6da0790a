import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleNodeBuiltins } from '../../../src/guests/node-builtins.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

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
      `${member} is refused: the sandbox has no Node built-in "${name}" with it. ${instead}`,
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
    const refused = (member: string) => [
      'BuiltinRefused',
      `path.win32.${member} is refused: the sandbox has no Node built-in "path" with it. The engines deno and docker have it.`,
    ];
    expect(await run(body)).toEqual(['\\', refused('join'), refused('basename')]);
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
