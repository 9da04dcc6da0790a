import { describe, expect, it, onTestFinished } from 'vitest';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { startSmallDaemon } from '../small-daemon.ts';

describe('health checks', () => {
  it('run by themselves as often as the config says, and are shown with the plugin', async () => {
    const plugins = {
      'well.ts': 'export default { healthcheck: () => true, handler: async () => 1 };\n',
      'ill.ts': "export default { healthcheck: () => { throw new Error('no heart'); }, handler: async () => 1 };\n",
      'without.ts': 'export default { handler: async () => 1 };\n',
    };
    const house = await startSmallDaemon(plugins, { repair: { healthMs: 20 } });
    onTestFinished(house.close);
    const list = house.daemon.operations.find(({ name }) => name === pluginContracts.list.name);
    const healthOf = async () => {
      const answer = await list?.handle({}, { caller: { id: 'local', role: 'admin' }, signal: new AbortController().signal });
      const { items } = answer as { items: readonly { name: string; health?: { outcome: string; detail: string } }[] };
      return new Map(items.map(({ name, health }) => [name, health]));
    };
    await until(
      async () => (await healthOf()).get('ill') !== undefined && (await healthOf()).get('well') !== undefined,
      'the checks',
    );
    const health = await healthOf();
    expect(health.get('well')).toMatchObject({ outcome: 'passed' });
    expect(health.get('ill')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('no heart') });
    expect(health.get('without')).toBeUndefined();
  });
});
