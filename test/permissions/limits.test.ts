import { afterEach, describe, expect, it } from 'vitest';
import { subtractPermissions } from '../../src/permissions/decision.ts';
import { parsePermissions, parseRequestedPermissions } from '../../src/permissions/parse.ts';
import { parsePermissionWords, takeBack } from '../../src/permissions/permission-words.ts';
import { startSmallDaemon } from '../small-daemon.ts';

const greedy = (limits: string) => `export default {
  version: '1.0.0',
  description: 'Fills memory and answers how much it has. Use in tests.',
  limits: ${limits},
  parameters: { type: 'object', properties: { mib: { type: 'number' } } },
  handler: ({ mib }) => new Uint8Array(mib * 1048576).fill(1).length,
};`;
const asking = greedy('{ memoryBytes: 100663296, hostCalls: 5 }');
const wanted = ['memoryBytes:100663296'];

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
afterEach(() => house.close());

describe('limits that a plugin raises for itself', () => {
  it('are asked for and held at the default until they are granted, while the plugin works', async () => {
    house = await startSmallDaemon({ 'greedy.ts': asking }, { grantRequested: false });
    const { plugins, grants } = house.parts;
    expect(plugins.get('greedy')).toMatchObject({
      state: 'ready',
      permissions: { requested: { limits: wanted }, granted: {}, pending: { limits: wanted } },
    });
    expect((await house.call('greedy', { mib: 1 })).output).toBe(1_048_576);
    expect(await house.call('greedy', { mib: 60 })).toMatchObject({ error: { code: 'memory-exceeded' } });
    const who = plugins.asking(plugins.get('greedy').path);
    if (who === undefined) throw new Error('nobody asks');
    const scope = { scope: 'always' } as const;
    grants.create({ asking: who, permissions: { limits: wanted }, scope, grantedBy: 'local' });
    expect((await house.call('greedy', { mib: 60 })).output).toBe(60 * 1_048_576);
    expect(plugins.get('greedy').permissions.pending).toEqual({});
    grants.revoke({ unitPath: who.path }, 'local');
    expect(await house.call('greedy', { mib: 60 })).toMatchObject({ error: { code: 'memory-exceeded' } });
  });

  it('need no grant up to what the config lets all plugins choose, and an edit that raises them is live at once', async () => {
    const settings = { grantRequested: false, limitsWithoutGrant: { memoryBytes: 100_663_296 } };
    house = await startSmallDaemon({ 'greedy.ts': asking }, settings);
    expect(house.parts.plugins.get('greedy').permissions.pending).toEqual({});
    expect((await house.call('greedy', { mib: 60 })).output).toBe(60 * 1_048_576);
  });

  it('are the words of a permission like any other', () => {
    expect(parsePermissionWords(['limits=memoryBytes:96MiB', 'limits=wallMs:60000'])).toEqual({
      ok: true,
      permissions: { limits: ['memoryBytes:100663296', 'wallMs:60000'] },
    });
    for (const word of ['memoryBytes:97MiB', 'wallMs:1KiB', 'memory:1', 'wallMs:0', 'wallMs']) {
      expect(parsePermissions({ limits: [word] })).toMatchObject({ ok: false, key: 'limits' });
    }
    expect(parseRequestedPermissions({ limits: ['wallMs:60000'] })).toMatchObject({ ok: false, key: 'limits' });
    const granted = { limits: ['wallMs:60000'] };
    expect(subtractPermissions({ limits: ['wallMs:50000'] }, granted)).toEqual({});
    expect(subtractPermissions({ limits: ['wallMs:70000', 'cpuMs:1'] }, granted)).toEqual({
      limits: ['wallMs:70000', 'cpuMs:1'],
    });
    expect(takeBack(granted, { limits: ['wallMs:40000'] })).toEqual({});
  });
});
