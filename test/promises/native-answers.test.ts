import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { startSmallDaemon } from '../small-daemon.ts';

/** `npm run test:long counts` lets more of them run. */
const stuck = process.env.HOTCELL_LONG === undefined ? 3 : 6;
/** Asks for the longest of native answers, each a second or more in which nothing interrupts its thread. */
const derives = `import { pbkdf2Sync } from 'node:crypto';
export default {
  description: 'Derives keys for ever.', parameters: { type: 'object' },
  handler: () => { for (;;) pbkdf2Sync('password', 'salt', 2_000_000, 64, 'sha512'); },
};`;
const quick = `export default { description: 'Is quick.', parameters: { type: 'object' }, handler: (args) => args };`;
const ann: Caller = { id: 'key_ann', role: 'caller' };
const bob: Caller = { id: 'key_bob', role: 'caller' };

describe('calls that keep their threads in native answers', () => {
  it('end within their limits, and another caller is answered all the while', async () => {
    const house = await startSmallDaemon(
      { 'derives.ts': derives, 'quick.ts': quick },
      { workers: { min: 1, max: 1 }, pluginLimits: { derives: { cpuMs: 50 } } },
    );
    let underWay = 0;
    const calls = Array.from({ length: stuck }, async () => {
      underWay++;
      const { status } = await house.call('derives', {}, { caller: ann });
      underWay--;
      return status;
    });
    let answered = 0;
    while (underWay > 0) {
      expect((await house.call('quick', { answered }, { caller: bob })).output).toEqual({ answered });
      answered++;
    }
    expect(await Promise.all(calls)).toEqual(Array(stuck).fill('timeout'));
    expect(answered).toBeGreaterThan(stuck);
    await house.close();
  }, 240_000);
});
