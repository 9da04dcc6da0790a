import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createHostAnswers, nonDeterministicOperations } from '../../../src/engines/quickjs/host-answers/host-answers.ts';
import { HostRefusal } from '../../../src/engines/quickjs/host-answers/host-refusal.ts';

const answer = createHostAnswers({ lazyModules: { known: 'text' } });

function refusalOf(op: string, payload: string, body?: Uint8Array): string {
  try {
    answer(op, payload, body);
  } catch (error) {
    if (error instanceof HostRefusal) return error.code;
    throw error;
  }
  return 'answered';
}

const operations = [
  'url.parse',
  'url.set',
  'query.parse',
  'query.write',
  'text.encode',
  'text.decode',
  'base64.write',
  'base64.read',
  'bytes.from',
  'bytes.text',
  'crypto.random',
  'crypto.digest',
  'crypto.hmac',
  'intl.call',
  'intl.value',
  'intl.list',
  'intl.locale',
  'module',
];
const oddPayloads = [
  '',
  '{',
  'null',
  '[]',
  '{}',
  '-1',
  '1e9',
  '"x"',
  '{"__proto__":{}}',
  '[["a"]]',
  '{"service":"constructor","method":"constructor","args":[]}',
  `"${'x'.repeat(100)}`,
];

describe('createHostAnswers', () => {
  it.each(operations)('%s answers odd requests with a refusal or a value, never with another exception', (op) => {
    for (const payload of oddPayloads)
      expect(['answered', 'arguments-invalid', 'not-supported', 'not-found']).toContain(refusalOf(op, payload));
  });

  it('refuses operations and modules that it does not know', () => {
    expect(refusalOf('process.exit', '{}')).toBe('not-supported');
    expect(refusalOf('constructor', '{}')).toBe('not-supported');
    expect(refusalOf('module', '__proto__')).toBe('not-found');
    expect(answer('module', 'known', undefined)).toBe('text');
  });

  it('bounds what it takes', () => {
    expect(refusalOf('crypto.random', '65537')).toBe('arguments-invalid');
    expect(refusalOf('url.parse', JSON.stringify({ input: `http://a/${'x'.repeat(1024 * 1024)}` }))).toBe('arguments-invalid');
    expect(
      refusalOf('intl.call', JSON.stringify({ service: 'Collator', method: 'compare', args: ['x'.repeat(1024 * 1024 + 1), ''] })),
    ).toBe('arguments-invalid');
    expect(refusalOf('intl.call', JSON.stringify({ service: 'NumberFormat', method: '__defineGetter__', args: [] }))).toBe(
      'not-supported',
    );
  });

  it('unpacks no more than the host bears, whatever a guest allows itself', () => {
    const packed = gzipSync(Buffer.alloc(33 * 1024 * 1024));
    const request = JSON.stringify({ kind: 'gunzip', maxOutputBytes: 2 ** 40 });
    expect(refusalOf('zlib', request, packed)).toBe('payload-too-large');
    expect(refusalOf('zlib', request, gzipSync('small'))).toBe('answered');
    expect(refusalOf('zlib', JSON.stringify({ kind: 'gunzip', maxOutputBytes: 4 }), gzipSync('small'))).toBe('payload-too-large');
  });

  it('derives and makes no key that takes long', () => {
    const key = { key: 'YQ==', salt: 'YQ==' };
    const derive = (request: object) => refusalOf('key.derive', JSON.stringify({ ...key, ...request }));
    expect(derive({ kind: 'pbkdf2', bytes: 20, rounds: 4_000_001 })).toBe('payload-too-large');
    expect(derive({ kind: 'pbkdf2', bytes: 40, rounds: 2_000_001 })).toBe('payload-too-large');
    expect(derive({ kind: 'pbkdf2', bytes: 20, rounds: 1000 })).toBe('answered');
    expect(derive({ kind: 'hkdf', bytes: 1024 * 1024 + 1 })).toBe('payload-too-large');
    expect(derive({ kind: 'scrypt', bytes: 8, cost: 2 ** 17, blockSize: 8 })).toBe('payload-too-large');
    expect(refusalOf('key.generate', JSON.stringify({ kind: 'rsa', modulusLength: 4097 }))).toBe('payload-too-large');
  });

  it('takes an empty body for a missing one', () => {
    expect(answer('text.decode', JSON.stringify({ label: 'utf-8', fatal: true, ignoreBOM: false }), undefined)).toBe('""');
    expect(answer('crypto.digest', 'SHA-256', undefined)).toHaveLength(32);
  });

  it('does not let one guest change what the next gets', () => {
    const request = JSON.stringify({ service: 'NumberFormat', method: 'resolvedOptions', args: [] });
    expect(answer('intl.call', request, undefined)).toBe(answer('intl.call', request, undefined));
    for (let index = 0; index < 200; index++) {
      const locale = JSON.stringify({
        service: 'PluralRules',
        method: 'select',
        locales: ['en'],
        options: { minimumFractionDigits: index % 20, minimumIntegerDigits: 1 + (index % 15) },
        args: [1],
      });
      expect(JSON.parse(String(answer('intl.call', locale, undefined)))).toHaveProperty('value');
    }
  });
});

describe('nonDeterministicOperations', () => {
  it('names what a recording must keep', () => {
    expect([...nonDeterministicOperations]).toEqual(['crypto.random', 'crypto.uuid', 'key.generate', 'key.sign', 'key.rsa']);
    expect(answer('crypto.uuid', '', undefined)).not.toBe(answer('crypto.uuid', '', undefined));
  });
});
