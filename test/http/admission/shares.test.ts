import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { fitConnections } from '../../../src/http/admission/connection-count.ts';
import { createShares } from '../../../src/http/admission/shares.ts';

const caller = (id: string): Caller => ({ id, role: 'caller' });
const admin = (id: string): Caller => ({ id, role: 'admin' });
const refused = expect.objectContaining({ code: 'rate-limited', status: 429 });

describe('createShares', () => {
  const budget = { holds: 'places', perCaller: 3, inAll: 10, reserve: 4 };

  it('gives nobody more than one part, and a part given back to whoever comes next', () => {
    const shares = createShares(budget);
    const [first] = [1, 2, 3].map(() => shares.take(caller('a')));
    expect(() => shares.take(caller('a'))).toThrow(refused);
    shares.take(caller('b'));
    first?.();
    first?.();
    shares.take(caller('a'));
    expect(() => shares.take(caller('a'))).toThrow(refused);
  });

  it('keeps the reserve for admins', () => {
    const shares = createShares(budget);
    for (const id of ['a', 'a', 'a', 'b', 'b', 'b']) shares.take(caller(id));
    expect(() => shares.take(caller('c'))).toThrow(refused);
    for (const id of ['x', 'x', 'x', 'local']) shares.take(admin(id));
    expect(() => shares.take(admin('local'))).toThrow(refused);
  });

  it('counts everybody without a token as one, and amounts as what they are', () => {
    const shares = createShares(budget);
    const nobody = (id: string): Caller => ({ ...caller(`anonymous:${id}`), isAnonymous: true });
    shares.take(nobody('1'), 2);
    expect(() => shares.take(nobody('2'), 2)).toThrow(refused);
    shares.take(nobody('3'));
  });
});

describe('fitConnections', () => {
  it('leaves half of the descriptors to everything else', () => {
    const { perCaller, inAll, reserve, maxAnonymous } = fitConnections(1024);
    expect(inAll + maxAnonymous).toBeLessThanOrEqual(512);
    expect(Math.min(perCaller, reserve, maxAnonymous)).toBeGreaterThan(10);
    expect(fitConnections(1_000_000)).toMatchObject({ perCaller: 6144, inAll: 12_288, reserve: 512, maxAnonymous: 512 });
  });
});
