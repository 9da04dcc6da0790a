import { describe, expect, it } from 'vitest';
import { createAnonymousCallers } from '../../../src/http/admission/anonymous-callers.ts';

const config = { enabled: true, tools: ['web_*'], ratePerMinute: 2, maxConcurrent: 3 };
const open = () => {
  const clock = { ms: 0 };
  return { clock, admit: createAnonymousCallers(config, () => clock.ms) };
};

describe('createAnonymousCallers', () => {
  it('lets nobody in where the config does not', () => {
    expect(createAnonymousCallers(undefined)('10.0.0.1')).toBeUndefined();
    expect(createAnonymousCallers({ ...config, enabled: false })('10.0.0.1')).toBeUndefined();
  });

  it('makes every request a caller of its own, with the tools of the config alone', () => {
    const { admit } = open();
    const [one, two] = [admit('10.0.0.1'), admit('10.0.0.1')];
    expect(one).toMatchObject({ role: 'caller', isAnonymous: true, tools: ['web_*'], maxConcurrent: 3 });
    expect(one?.id).toMatch(/^anonymous:/);
    expect(one?.id).not.toBe(two?.id);
  });

  it('holds an address to its rate', () => {
    const { admit, clock } = open();
    for (let n = 0; n < 2; n++) admit('10.0.0.1');
    expect(() => admit('10.0.0.1')).toThrow(expect.objectContaining({ code: 'rate-limited', facts: { retryAfterMs: 30_000 } }));
    expect(admit('10.0.0.2')).toBeDefined();
    clock.ms = 30_000;
    expect(admit('10.0.0.1')).toBeDefined();
  });

  it.each([
    ['2001:db8::1', '2001:db8::ffff:2', '2001:0db8:0000:0000:1:2:3:4'],
    ['::ffff:10.0.0.1', '10.0.0.1', '::FFFF:10.0.0.1'],
    ['fe80::1%eth0', 'fe80::2%eth1', 'fe80:0:0:0::3'],
  ])('counts %s, %s and %s as one', (...addresses) => {
    const { admit } = open();
    const [first = '', second = '', third = ''] = addresses;
    admit(first);
    admit(second);
    expect(() => admit(third)).toThrow('one address');
  });

  it('keeps two networks of version 6 apart', () => {
    const { admit } = open();
    for (const end of ['1', '2']) admit(`2001:db8:0:1::${end}`);
    expect(admit('2001:db8:0:2::1')).toBeDefined();
  });
});
