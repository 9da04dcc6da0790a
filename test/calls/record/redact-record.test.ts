import { describe, expect, it } from 'vitest';
import { redactAnswer, redactEnd, redactLine } from '../../../src/calls/record/redact-record.ts';
import { createRedactor } from '../../../src/secrets/redaction.ts';

const secret = 'a-v3ry-s3cret-value';
const redactor = createRedactor();
redactor.learn('KEY', secret);

describe('redactAnswer', () => {
  it('takes a secret out of text, bytes and refusals, whatever capability brought it', () => {
    const body = new Uint8Array(Buffer.from(`before ${secret} after`));
    const answer = redactAnswer({ ok: true, payload: JSON.stringify({ text: secret }), body }, redactor);
    expect(answer).toEqual({
      ok: true,
      payload: '{"text":"[secret KEY]"}',
      body: new Uint8Array(Buffer.from('before [secret KEY] after')),
    });
    const refusal = redactAnswer({ ok: false, code: 'network-failed', message: `${secret} is no host` }, redactor);
    expect(refusal).toEqual({ ok: false, code: 'network-failed', message: '[secret KEY] is no host' });
  });

  it('hands out bytes that own their memory', () => {
    const answer = redactAnswer({ ok: true, payload: '', body: new Uint8Array(Buffer.from(secret)) }, redactor);
    expect(answer.ok && answer.body?.buffer.byteLength).toBe(answer.ok && answer.body?.byteLength);
  });
});

describe('redactLine', () => {
  it('takes a secret out of a line', () => {
    expect(redactLine({ level: 'info', text: `got ${secret}`, atMs: 1 }, redactor).text).toBe('got [secret KEY]');
  });
});

describe('redactEnd', () => {
  it('takes a secret out of all that ends a call', () => {
    const error = { code: 'handler-threw', message: secret, fix: '' } as const;
    const end = redactEnd(
      { status: 'error', output: [secret], outputJson: `["${secret}"]`, error, warnings: [secret] },
      redactor,
    );
    expect(JSON.stringify(end)).not.toContain(secret);
  });
});
