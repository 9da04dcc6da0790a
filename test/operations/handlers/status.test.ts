import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { daemonContracts } from '../../../src/operations/contracts/daemon.ts';
import { openIdentityHouse } from '../../promises/identity-house.ts';

const readClock = Date.now;
const quick = "export default { description: 'Is quick.', parameters: { type: 'object' }, handler: () => 1 };";
const caller: Caller = { id: 'key_ann', role: 'caller' };

afterEach(() => {
  Date.now = readClock;
});

async function open() {
  const house = openIdentityHouse({ 'plugins/quick.ts': quick });
  await house.start();
  return { ...house, status: (who?: Caller) => house.invoke(daemonContracts.status, {}, who) };
}

describe('status.show', () => {
  it('tells a caller nothing of others, nor of the machine', async () => {
    const house = await open();
    const before = await house.status(caller);
    expect(Object.keys(before).sort()).toEqual(['calls', 'plugins', 'startedAtMs', 'tools', 'uptimeMs', 'version']);
    await house.call('quick');
    const { uptimeMs: _, ...after } = await house.status(caller);
    expect(before).toMatchObject(after);
    expect(after).toMatchObject({ plugins: {}, calls: { pending: 0, running: 0 } });
  });

  it('tells an admin all of it, and how long the daemon runs, whatever the clock of the machine says', async () => {
    const house = await open();
    Date.now = () => readClock() + 3_600_000;
    const status = await house.status();
    expect(status).toMatchObject({ node: process.versions.node, plugins: { ready: 1 }, lastEventSeq: expect.any(Number) });
    expect(status.uptimeMs).toBeLessThan(3_000_000);
    Date.now = () => readClock() - 3_600_000;
    expect((await house.status()).uptimeMs).toBeGreaterThanOrEqual(status.uptimeMs);
  });
});
