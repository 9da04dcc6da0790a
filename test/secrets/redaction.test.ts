import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redaction.ts';

const value = 'k3y/+ "Geheim"&ünïcode~42';
const label = '[secret KEY]';

function knowing(...values: string[]) {
  const redactor = createRedactor();
  for (const each of values) redactor.learn('KEY', each);
  return redactor;
}

/** Every form in which a server may send a value back. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'JSON-escaped': (text) => JSON.stringify({ text }),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'URL-encoded': encodeURIComponent,
  'URL-encoded in lower case': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'as a form': (text) => new URLSearchParams({ text }).toString(),
  'as a path': encodeURI,
  'percent-encoded throughout': (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
  'in hex': (text) => Buffer.from(text).toString('hex'),
  'in upper hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'JSON as Go writes it': (text) => JSON.stringify(text).replaceAll('&', '\\u0026'),
  'JSON as .NET writes it': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`),
  'in lower case': (text) => text.toLowerCase(),
  'as HTML': (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
};

describe('createRedactor', () => {
  it.each(Object.entries(forms))('finds a value %s', (_name, encode) => {
    const encoded = encode(value);
    const redacted = knowing(value).text(`before ${encoded} after`);
    expect(redacted).toContain(label);
    expect(redacted).toMatch(/^before .*after$/);
    expect(redacted).not.toContain('Geheim');
  });

  it.each([0, 1, 2])('finds base64 and base64url at offset %i, and leaves no bit of it', (offset) => {
    for (const secret of ['eight8ch', 'nine9char', 'tenten10ch', value]) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const bytes = Buffer.concat([Buffer.alloc(offset + 3, 'x'), Buffer.from(secret), Buffer.from('yyyy')]);
        const redacted = knowing(secret).text(bytes.toString(encoding));
        expect(redacted).toContain(label);
        const [before = '', after = ''] = redacted.split(label);
        expect(Buffer.from(before, encoding).toString()).toMatch(/^x+$/);
        expect(after).toMatch(/^[\w=]+$/);
        expect(after.length).toBeLessThanOrEqual(8);
      }
    }
  });

  it('finds values in bytes that are no UTF-8, and in UTF-16', () => {
    const bytes = Buffer.concat([Buffer.of(0xff, 0xfe, 0x80), Buffer.from('s3cretvalue'), Buffer.of(0xff)]);
    expect(Buffer.from(knowing('s3cretvalue').bytes(bytes)).toString('latin1')).toBe(`\xff\xfe\x80${label}\xff`);
    expect(Buffer.from(knowing('s3cretvalue').bytes(Buffer.from('a s3cretvalue', 'utf16le'))).includes('c\0r')).toBe(false);
  });

  it('gives back the same object where there is nothing to find', () => {
    const redactor = knowing('s3cretvalue');
    const bytes = Buffer.from('nothing here');
    const data = { list: [1, 'two', { three: null }], bytes: 3 };
    expect([redactor.bytes(bytes), redactor.value(data)]).toEqual([bytes, data]);
    expect(redactor.bytes(bytes)).toBe(bytes);
    expect(redactor.value(data)).toBe(data);
    expect(createRedactor().isIdle && !redactor.isIdle).toBe(true);
  });

  it('walks values: keys, lists, and numbers that hold the digits', () => {
    const redactor = knowing('s3cretvalue', '1234567890');
    expect(redactor.value({ 'x-s3cretvalue': ['s3cretvalue', 1234567890, 12] })).toEqual({ [`x-${label}`]: [label, label, 12] });
  });

  it('keeps JSON readable where a value begins inside an escape', () => {
    const redactor = knowing('nABCDEFGH');
    expect(JSON.parse(redactor.json(JSON.stringify({ text: '\nABCDEFGH', other: 'nABCDEFGH' })))).toEqual({
      text: '\nABCDEFGH',
      other: label,
    });
    expect(redactor.json('no JSON: nABCDEFGH')).toBe(`no JSON: ${label}`);
  });

  it('knows a value for ever, and takes the longest of two that begin alike', () => {
    const redactor = createRedactor();
    redactor.learn('OLD', 's3cretvalue');
    redactor.learn('OLD', 's3cretvalue-of-today');
    redactor.learn('NEW', 'other-value');
    expect(redactor.text('s3cretvalue s3cretvalue-of-today other-value')).toBe('[secret OLD] [secret OLD] [secret NEW]');
  });

  it('redacts a stream cut at every place like the whole', () => {
    const redactor = knowing('s3cretvalue', 's3cretvalue-of-today', 'aaaaaaab');
    const text = `x s3cretvalue-of-today aaaaaaaaaaab s3cretvalue ${Buffer.from('zz s3cretvalue').toString('base64')} s3cret`;
    const whole = redactor.text(text);
    const bytes = Buffer.from(text);
    for (let first = 0; first <= bytes.length; first++) {
      for (const second of [first, Math.min(bytes.length, first + 1), Math.min(bytes.length, first + 9)]) {
        const stream = redactor.stream();
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(Buffer.concat([...chunks.map((chunk) => stream.push(chunk)), stream.end()]).toString()).toBe(whole);
      }
    }
  });

  it('holds back nothing of a stream that cannot be a beginning', () => {
    const stream = knowing('s3cretvalue').stream();
    expect(Buffer.from(stream.push(Buffer.from('data: {}\n\n'))).toString()).toBe('data: {}\n\n');
    expect(Buffer.from(stream.push(Buffer.from('data: s3cr'))).toString()).toBe('data: ');
    expect(Buffer.from(stream.push(Buffer.from('ew\n'))).toString()).toBe('s3crew\n');
  });
});
