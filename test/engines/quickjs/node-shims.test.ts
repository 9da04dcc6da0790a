import { builtinModules } from 'node:module';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleNodeBuiltins, nodeBuiltinShims, refusedBuiltins } from '../../../src/guests/node-builtins.ts';
import { expectSameAsNode } from './web-api-compare.ts';
import { startWebGuest, type WebGuest } from './web-api-guest.ts';

let guest: WebGuest;
let shims: ReadonlyMap<string, string>;
beforeAll(async () => {
  guest = await startWebGuest();
  shims = new Map(Object.entries(await bundleNodeBuiltins()));
});
afterAll(() => guest.close());

/** Bundles a body whose `require` and `import` name built-ins, and runs it in the guest. */
async function runWithShims(body: string): Promise<unknown> {
  const result = await build({
    stdin: { contents: `globalThis.bodyForTest = async () => {${body}\n};`, loader: 'js' },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    target: 'es2023',
    plugins: [
      {
        name: 'shims',
        setup(builder) {
          builder.onResolve({ filter: /.*/ }, ({ path }) => ({
            path: path.replace(/^node:/, ''),
            namespace: 'shim',
            sideEffects: false,
          }));
          builder.onLoad({ filter: /.*/, namespace: 'shim' }, ({ path }) => ({ contents: shims.get(path) ?? '', loader: 'js' }));
        },
      },
    ],
  });
  return guest.run(`${result.outputFiles[0]?.text}\nreturn globalThis.bodyForTest();`);
}

const withShims = { run: runWithShims };

const attempt = `const attempt = (make) => { try { const made = make(); return made === undefined ? 'undefined' : made; } catch (error) { return [error.name, error.code]; } };`;

describe('nodeBuiltinShims', () => {
  it('and refusedBuiltins cover every built-in of Node once', () => {
    const all = builtinModules.map((name) => name.replace(/^node:/, ''));
    expect(all.filter((name) => nodeBuiltinShims.has(name) === refusedBuiltins.has(name))).toEqual([]);
    expect([...refusedBuiltins].filter(([, instead]) => !/^[A-Z].*\.$/.test(instead))).toEqual([]);
  });

  it('can be imported whole, by name and as default, and required', async () => {
    const body = `const path = await import('node:path'); const EventEmitter = require('events'); const assert = require('node:assert'); const { once } = require('events');
      return [path.join('a', 'b'), path.default.join('a', 'b'), new EventEmitter() instanceof EventEmitter.EventEmitter, typeof assert, typeof assert.equal, typeof assert.strict, typeof once, require('path').posix.sep]`;
    expect(await runWithShims(body)).toEqual(['a/b', 'a/b', true, 'function', 'function', 'function', 'function', '/']);
  });
});

describe('node:path', () => {
  const paths = [
    '',
    '.',
    '..',
    '/',
    '//',
    '///a',
    'a',
    'a/',
    'a/b',
    '/a/b/',
    '/a/../..//b',
    './a/./b/..',
    '../../a',
    'a/../..',
    'a//b',
    '.hidden',
    'a.b.c',
    'dir.x/file',
    'x.',
    '/x.tar.gz/',
    '..a',
    'a..',
    '//a//b',
  ];

  it('works on single paths as in Node', async () => {
    await expectSameAsNode(
      withShims,
      `const path = require('path').posix; return ${JSON.stringify(paths)}.map((p) => [path.normalize(p), path.dirname(p), path.basename(p), path.basename(p, '.gz'), path.extname(p), path.isAbsolute(p), path.parse(p), path.format(path.parse(p)), path.resolve('/w', p), path.join(p), path.join('x', p), path.join(p, '..', 'y')])`,
    );
  });

  it('works on pairs as in Node', async () => {
    const absolute = paths.filter((path) => path.startsWith('/')).concat('/a/b/c', '/a/bc', '/a');
    await expectSameAsNode(
      withShims,
      `const path = require('path').posix; const list = ${JSON.stringify(absolute)}; return list.flatMap((from) => list.map((to) => [path.relative(from, to), path.resolve(from, to), path.join(from, to)]))`,
    );
  });

  it('refuses what is no path as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const path = require('path').posix; return [attempt(() => path.join(1)), attempt(() => path.basename(null)), attempt(() => path.format('x'))]`,
    );
  });
});

describe('node:buffer', () => {
  it('converts text in every encoding as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `const { Buffer } = require('buffer'); const texts = ['', 'hello', 'ä€😀\\0\\ud800', 'aGk', 'aGk_-==', 'a G k', 'abc', '6869zz'];
       return ['utf8', 'UTF-8', 'ucs2', 'utf16le', 'latin1', 'binary', 'ascii', 'base64', 'base64url', 'hex'].flatMap((encoding) => texts.map((text) => { const bytes = Buffer.from(text, encoding); return [bytes.toJSON(), bytes.toString(encoding), bytes.toString('hex'), bytes.toString('ascii'), Buffer.byteLength(text, encoding) === bytes.length || encoding]; }))`,
    );
  });

  it('makes, joins, compares and searches as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const { Buffer } = require('buffer'); const b = Buffer.from('abcabc'); const out = [];
       out.push(Buffer.alloc(5, 'ab').toString(), Buffer.alloc(3, 1).toJSON(), Buffer.concat([b, Buffer.from('x')]).toString(), Buffer.concat([b, b], 7).toString(), Buffer.compare(b, Buffer.from('abd')), b.equals(Buffer.from('abcabc')));
       out.push(b.indexOf('c'), b.indexOf('c', 3), b.indexOf('c', -1), b.lastIndexOf('a'), b.lastIndexOf('a', 2), b.includes('bca'), b.indexOf(99), b.indexOf(Buffer.from('zz')), b.indexOf(''));
       const part = b.slice(1, 3); part[0] = 120; out.push(b.toString(), part.toString(), Buffer.isBuffer(part), Buffer.isBuffer(b.subarray(1)), Buffer.isBuffer(b.map((x) => x)), Buffer.isBuffer(new Uint8Array(1)));
       const w = Buffer.alloc(8); out.push(w.write('ä€', 1), w.write('zz', 6, 1), w.write('6162', 0, 'hex'), w.toString('hex'), w.fill('xy', 2, 5).toString('hex'), b.copy(w, 6), w.toString('latin1'), Buffer.from([1, 2, 3, 4]).swap16().toJSON(), attempt(() => Buffer.alloc(3).swap16()));
       out.push(attempt(() => Buffer.from(5)), attempt(() => Buffer.from('x', 'nope')), attempt(() => Buffer.alloc('x')), Buffer.from({ type: 'Buffer', data: [1, 2] }).toJSON(), Buffer.from(new Uint16Array([1, 300]).buffer, 1, 2).toJSON(), Buffer.isEncoding('HEX'), JSON.stringify(b), String(b), b.compare(Buffer.from('zz')), Buffer.of(1, 2).length);
       return out`,
    );
  });

  it('reads and writes numbers as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const { Buffer } = require('buffer'); const bytes = Buffer.from([255, 1, 128, 3, 4, 250, 6, 7, 8, 9]);
       const names = ['UInt8', 'Int8', ...['UInt16', 'Int16', 'UInt32', 'Int32', 'Float', 'Double', 'BigUInt64', 'BigInt64'].flatMap((name) => [name + 'LE', name + 'BE'])];
       return [names.map((name) => [0, 1, 2, 3, 9, -1, 1.5].map((at) => attempt(() => String(bytes['read' + name](at))))),
         names.map((name) => [0, 1, -1, 127, 128, 65535, 70000].map((value) => attempt(() => { const into = Buffer.alloc(9); const end = into['write' + name](name.startsWith('Big') ? BigInt(value) : value, 1); return [end, into.toString('hex')]; }))),
         ['UIntLE', 'UIntBE', 'IntLE', 'IntBE'].map((name) => [1, 3, 6].map((size) => [bytes['read' + name](1, size), attempt(() => { const into = Buffer.alloc(8); into['write' + name](100, 1, size); return into.toString('hex'); })])), typeof bytes.readUint8]`,
    );
  });

  it('is the global Buffer', async () => {
    expect(
      await runWithShims(
        `return [require('buffer').Buffer === Buffer, require('crypto').randomBytes(3) instanceof Buffer, Buffer.from('aGk=', 'base64').toString()]`,
      ),
    ).toEqual([true, true, 'hi']);
  });
});

describe('node:crypto', () => {
  it('hashes as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const { createHash, createHmac, hash, timingSafeEqual } = require('crypto'); const key = Buffer.from('kéy');
       return [['md5', 'sha1', 'SHA256', 'sha384', 'sha512', 'sha224'].map((name) => [createHash(name).update('a').update(Buffer.from('b')).digest('hex'), createHash(name).digest('base64'), createHmac(name, key).update('dätä').digest('hex'), createHmac(name, 'k').digest().length]),
         hash('sha1', 'x'), attempt(() => createHash('sha256').update(5)), attempt(() => { const h = createHash('md5'); h.digest(); h.update('x'); }), createHash('md5').update('6162', 'hex').copy().digest('hex'), timingSafeEqual(Buffer.from('a'), Buffer.from('a')), attempt(() => timingSafeEqual(Buffer.from('a'), Buffer.from('ab')))]`,
    );
  });

  it('draws random values in range', async () => {
    expect(
      await runWithShims(
        `const crypto = require('crypto'); const drawn = Array.from({ length: 200 }, () => crypto.randomInt(3, 6)); return [[...new Set(drawn)].sort(), crypto.randomBytes(100000).length, crypto.randomUUID().length, crypto.randomInt(1)]`,
      ),
    ).toEqual([[3, 4, 5], 100000, 36, 0]);
    await expect(runWithShims(`require('crypto').createHash('whirlpool')`)).rejects.toThrow('sha256');
  });
});

describe('node:events', () => {
  it('emits as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const EventEmitter = require('events'); const { inherits } = require('util'); function Old() { EventEmitter.call(this); } inherits(Old, EventEmitter); class New extends EventEmitter {}
       return Promise.all([new Old(), new New()].map(async (e) => { const seen = []; const a = (...args) => seen.push('a', ...args); e.on('x', a); e.once('x', () => seen.push('once')); e.prependListener('x', () => seen.push('first'));
         const out = [e.emit('x', 1, 2), e.emit('x'), e.emit('none'), e.listenerCount('x'), e.eventNames(), attempt(() => e.emit('error', new RangeError('r'))), attempt(() => e.emit('error', 5)), attempt(() => e.on('x', 5))];
         e.on('newListener', (name) => seen.push('new ' + name)); e.off('x', a); e.removeListener('x', a); e.emit('x'); e.removeAllListeners(); setTimeout(() => e.emit('later', 7), 1); out.push(await EventEmitter.once(e, 'later'));
         setTimeout(() => e.emit('error', new Error('bad')), 1); out.push(await EventEmitter.once(e, 'never').catch((x) => x.message), e.getMaxListeners(), e.listeners('x').length); return [...out, seen]; }))`,
    );
  });

  it('keeps a permanent listener beside the same one for once, and tells monitors of errors', async () => {
    await expectSameAsNode(
      withShims,
      `const { EventEmitter, errorMonitor } = require('events'); const e = new EventEmitter(); const seen = []; const f = (x) => seen.push(x);
       e.once('x', f); e.on('x', f); e.emit('x', 1); e.emit('x', 2); e.on(errorMonitor, (error) => seen.push('monitor ' + error.message));
       try { e.emit('error', new Error('bad')); } catch (error) { seen.push(error.message); } return seen`,
    );
  });

  it('iterates over events', async () => {
    await expectSameAsNode(
      withShims,
      `const { EventEmitter, on } = require('events'); const e = new EventEmitter(); setTimeout(() => { e.emit('x', 1); e.emit('x', 2); }, 1); const seen = []; for await (const [value] of on(e, 'x')) { seen.push(value); if (value === 2) break; } return seen`,
    );
  });
});

describe('node:assert', () => {
  it('accepts and refuses as Node does', async () => {
    const pairs = [
      '1, 1',
      `1, '1'`,
      'NaN, NaN',
      '0, -0',
      '[1, [2]], [1, [2]]',
      '{ a: 1, b: 2 }, { b: 2, a: 1 }',
      '{ a: 1 }, { a: 1, b: undefined }',
      'new Map([[{ k: 1 }, 2]]), new Map([[{ k: 1 }, 2]])',
      'new Set([[1], [2]]), new Set([[2], [1]])',
      'new Date(1), new Date(1)',
      'new Date(1), new Date(2)',
      '/a/g, /a/i',
      `new Error('a'), new Error('b')`,
      '[1, , 3], [1, undefined, 3]',
      'new Uint8Array([1]), new Uint8Array([1])',
      'new (class A {})(), {}',
      'null, undefined',
      `Object('a'), Object('a')`,
    ];
    await expectSameAsNode(
      withShims,
      `${attempt} const assert = require('assert'); return ['equal', 'notEqual', 'deepEqual', 'strictEqual', 'deepStrictEqual', 'notDeepStrictEqual'].map((name) => [${pairs.map((pair) => `attempt(() => assert[name](${pair}))`).join(', ')}])`,
    );
  });

  it('checks what is thrown as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `${attempt} const assert = require('assert'); const fail = () => { throw Object.assign(new TypeError('wrong'), { code: 'E' }); };
       const out = [undefined, TypeError, RangeError, /wrong/, /right/, { code: 'E' }, { code: 'F' }, { message: /wr/ }, (e) => e.code === 'E', () => false].map((expected) => [attempt(() => assert.throws(fail, expected)), attempt(() => assert.throws(() => {}, expected))]);
       out.push(attempt(() => assert(0, 'say')), attempt(() => assert.ok(1)), attempt(() => assert.match('abc', /x/)), attempt(() => assert.ifError(null)), attempt(() => assert.fail('f')), await assert.rejects(async () => fail(), TypeError).then(() => 'ok'), await assert.rejects(Promise.resolve()).catch((e) => e.code));
       try { assert(0, 'sentence'); } catch (e) { out.push(e.message, e instanceof assert.AssertionError, e.generatedMessage); } try { assert(0, new RangeError('own')); } catch (e) { out.push(e.name); }
       out.push(attempt(() => require('assert/strict').equal(1, '1'))); return out`,
    );
  });
});

describe('node:util', () => {
  it('works as in Node', async () => {
    await expectSameAsNode(
      withShims,
      `const util = require('util'); const later = (value, done) => setTimeout(() => (value ? done(null, value) : done(new Error('none'))), 1); const p = util.promisify(later);
       const back = util.callbackify(async (x) => x + 1);
       return [util.format('%s=%d %j %%', 'a', 1, { b: 1 }, 'rest'), util.inspect({ a: [1, { b: 2 }] }), util.inspect('x'), await p(5), await p(0).catch((e) => e.message), await new Promise((done) => back(1, (e, v) => done([e, v]))), util.isDeepStrictEqual({ a: [1] }, { a: [1] }), util.types.isDate(new Date()), util.types.isPromise({}), util.types.isUint8Array(Buffer.alloc(1)), util.stripVTControlCharacters('\\u001b[31mred\\u001b[0m'), util.inspect(Buffer.from('abc')), util.inspect({ [util.inspect.custom]: () => 'mine' })]`,
    );
  });
});

describe('node:url and node:querystring', () => {
  it('parse, format and resolve as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `const url = require('url'); const list = ['http://user:pa%20ss@Host.example:8080/p/a/t?q=1&q=2#h', '/only/path?x=y', 'mailto:a@b.c', 'http://a.example', 'file:///etc/x', '//no.scheme/x', 'path#frag', ''];
       return [list.map((text) => ({ ...url.parse(text) })), url.parse('http://a/?x=1&x=2', true).query, list.map((text) => url.format(url.parse(text))), url.format({ protocol: 'https', hostname: 'a.b', port: 1, pathname: 'x', query: { a: [1, 2] } }), url.resolve('http://a/b/c', '../d'), url.resolve('/one/two', 'three'),
         url.fileURLToPath('file:///a%20b'), url.pathToFileURL('/a b?#').href, new url.URL('http://x').href, url.domainToASCII('exämple.de'), url.format(new url.URL('http://u:p@a/?q#h'), { auth: false, fragment: false })]`,
    );
  });

  it('handle queries as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `const qs = require('querystring'); return [['a=1&a=2&b=%20+x&c', 'a=%zz', '', '&&', 'x=1=2'].map((text) => ({ ...qs.parse(text) })), qs.parse('a:1;b:2', ';', ':').b, qs.stringify({ a: [1, 'x y'], b: true, c: null, d: 'é&', e: NaN }), qs.escape('a b'), qs.unescape('%41%zz')]`,
    );
  });
});

describe('node:string_decoder', () => {
  it('joins what chunks cut as Node does', async () => {
    await expectSameAsNode(
      withShims,
      `const { StringDecoder } = require('string_decoder'); const bytes = Buffer.from('aß€😀z'); const wide = Buffer.from('a😀', 'utf16le');
       const feed = (encoding, source) => { const d = new StringDecoder(encoding); return [...source].map((byte) => d.write(Buffer.of(byte))).join('') + d.end(); };
       return [feed('utf8', bytes), feed('utf16le', wide), feed('base64', bytes), feed('hex', bytes), feed('latin1', bytes), (() => { const d = new StringDecoder(); return [d.write(Buffer.of(0xe2, 0x82)), d.end(Buffer.of(0xac)), d.end()]; })()]`,
    );
  });
});

describe('node:timers', () => {
  it('wait with promises as in Node', async () => {
    await expectSameAsNode(
      withShims,
      `const { setTimeout: wait, setImmediate: soon } = require('timers/promises'); const c = new AbortController(); const p = wait(1000, 1, { signal: c.signal }).catch((e) => [e.name, e.code]); c.abort(); return [await wait(1, 'v'), await soon('s'), await p, typeof require('timers').setTimeout]`,
    );
  });
});
