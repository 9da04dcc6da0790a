import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createHostAnswers } from '../../../src/engines/quickjs/host-answers/host-answers.ts';
import { HostRefusal } from '../../../src/engines/quickjs/host-answers/host-refusal.ts';

const answer = createHostAnswers({ lazyModules: {} });

function ask(op: string, request: object, body?: Uint8Array): string {
  try {
    answer(op, JSON.stringify(request), body);
  } catch (error) {
    if (error instanceof HostRefusal) return error.code;
    throw error;
  }
  return 'answered';
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = content.length < 128 ? [tag, content.length] : [tag, 0x82, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const integer = (hex: string) => der(0x02, Buffer.from(hex, 'hex'));
const octets = (count: number) => der(0x04, Buffer.alloc(count));

/** A sealed key whose way to its passphrase is this one. */
function seal(derivation: Buffer): Buffer {
  const cipher = sequence(oid('60864801650304012a'), octets(16));
  return sequence(sequence(oid('2a864886f70d01050d'), sequence(derivation, cipher)), octets(64));
}

const endlessRounds = seal(sequence(oid('2a864886f70d01050c'), sequence(octets(8), integer('7fffffff'))));
const endlessScrypt = seal(
  sequence(oid('2b06010401da47040b'), sequence(octets(8), integer('020000'), integer('01'), integer('020000'))),
);

describe('work that a guest asks the host for', () => {
  it('opens no key whose passphrase takes hours, however it is written', () => {
    for (const key of [endlessRounds, endlessScrypt]) {
      const pem = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${key.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
      for (const isPrivate of [true, false]) {
        const rest = { isPrivate, passphrase: 'x' };
        expect(ask('key.read', { text: key.toString('base64'), format: 'der', type: 'pkcs8', ...rest })).toBe(
          'payload-too-large',
        );
        expect(ask('key.read', { text: pem, format: 'pem', ...rest })).toBe('payload-too-large');
      }
    }
    const open = Buffer.concat([Buffer.from([0x30, 0x80]), endlessRounds.subarray(4), Buffer.alloc(2)]);
    const rest = { format: 'der', type: 'pkcs8', isPrivate: true, passphrase: 'x' };
    expect(ask('key.read', { text: open.toString('base64'), ...rest })).toBe('arguments-invalid');
  });

  it('derives keys with as many rounds as their digest is quick', () => {
    const derive = (hash: string, rounds: number, bytes = 16) =>
      ask('key.derive', { kind: 'pbkdf2', key: '', salt: '', bytes, hash, rounds });
    for (const [hash, most] of [
      ['sha1', 4_000_000],
      ['sha512', 2_000_000],
      ['sha3-512', 500_000],
      ['sm3', 500_000],
      ['blake2b512', 500_000],
      ['RIPEMD160', 500_000],
      ['sha512-256', 500_000],
    ] as const) {
      expect([hash, derive(hash, most + 1), derive(hash, 1)]).toEqual([hash, 'payload-too-large', 'answered']);
    }
    // A longer key takes the rounds several times, by blocks of the digest.
    expect([derive('sha512', 600_000, 64), derive('sha512', 1_000_001, 65)]).toEqual(['answered', 'payload-too-large']);
    expect([derive('no-digest', 1), derive('sha256', -1)]).toEqual(['arguments-invalid', 'arguments-invalid']);
  });

  it('opens sealed keys as they are usually written', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const type of ['pkcs8', 'pkcs1'] as const) {
      const text = privateKey.export({ format: 'pem', type, cipher: 'aes-256-cbc', passphrase: 'secret' });
      const read = JSON.parse(
        String(answer('key.read', JSON.stringify({ text, format: 'pem', isPrivate: true, passphrase: 'secret' }), undefined)),
      );
      expect(createPrivateKey({ key: Buffer.from(read.key, 'base64'), format: 'der', type: 'pkcs8' }).equals(privateKey)).toBe(
        true,
      );
    }
  });

  it('takes no private key whose numbers are larger than those of the largest key', () => {
    const number = (bytes: number) => integer(`7f${randomBytes(bytes - 2).toString('hex')}01`);
    const sizes = [1024, 3, 1024, 512, 512, 512, 512, 512];
    const key = sequence(integer('00'), ...sizes.map(number)).toString('base64');
    expect(ask('key.read', { text: key, format: 'der', type: 'pkcs1', isPrivate: true })).toBe('payload-too-large');
  });

  it('packs much data with less effort than little', () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024);
    for (let index = 0, random = 7; index < bytes.length; index++) {
      random = (random * 1_103_515_245 + 12_345) & 0x7fffffff;
      bytes[index] = 97 + ((random >> 16) & 1);
    }
    const pack = (level: number) => Buffer.from(answer('zlib', JSON.stringify({ kind: 'gzip', level }), bytes) ?? []);
    expect(pack(9).equals(pack(3))).toBe(true);
    expect(gunzipSync(pack(9)).equals(bytes)).toBe(true);
    expect(ask('zlib', { kind: 'gzip', level: 10 }, bytes)).toBe('arguments-invalid');
  });
});
