import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { repairContracts } from '../../src/operations/contracts/repairs.ts';
import { findSource } from '../../src/plugins/discovery/plugin-source.ts';
import { classifyCheck } from '../../src/repair/failures/classify-failure.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { startSmallDaemon } from '../small-daemon.ts';

describe('health checks', () => {
  it('run by themselves as often as the config says, and are shown with the plugin', async () => {
    const plugins = {
      'well.ts': 'export default { healthcheck: () => true, handler: async () => 1 };\n',
      'ill.ts': "export default { healthcheck: () => { throw new Error('no heart'); }, handler: async () => 1 };\n",
      'greedy.ts': `export default { healthcheck: () => { for (const all = []; ; ) all.push(new Array(1e5).fill(1)); }, handler: async () => 1 };\n`,
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
    await until(async () => {
      const seen = await healthOf();
      return ['ill', 'well', 'greedy'].every((name) => seen.get(name) !== undefined);
    }, 'the checks');
    const health = await healthOf();
    expect(health.get('well')).toMatchObject({ outcome: 'passed' });
    expect(health.get('ill')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('no heart') });
    expect(health.get('greedy')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('memory-exceeded') });
    expect(health.get('without')).toBeUndefined();
  });

  it('and examples that fail are mended where the code is, not where the check is', async () => {
    const parts = (check: string) =>
      `const split = (text: string) => text.splitt(';').lenght;\nexport default {\n  ${check}\n  handler: async ({ text }: { text: string }) => split(text),\n};\n`;
    const code = (check: string) => parts(check).replace('splitt', 'split');
    const plugins = {
      'ill.ts': code("healthcheck: () => { if (split('a;b') !== 2) throw new Error('no heart'); },"),
      'lame.ts': code("examples: [{ args: { text: 'a;b;c' }, expect: 3 }],"),
      'sly.ts':
        "export default { healthcheck: () => { if ([].lenght !== 0) throw new Error('sly'); }, handler: async () => 1 };\n",
    };
    const house = await startSmallDaemon(plugins, { repair: { healthMs: 0 } });
    onTestFinished(house.close);
    const begin = house.daemon.operations.find(({ name }) => name === repairContracts.start.name);
    const repair = async (name: string) =>
      begin?.handle({ plugin: name }, { caller: { id: 'local', role: 'admin' }, signal: new AbortController().signal });
    for (const name of ['ill', 'lame'] as const) {
      const ended = await repair(name);
      expect(ended).toMatchObject({ class: 'check-failed', state: 'proposed' });
      expect(JSON.stringify(ended)).toContain('length');
      expect(await repair(name)).toEqual(ended);
    }
    // The fault is one of the check: what mends the check shows nothing.
    expect(await repair('sly')).toMatchObject({ class: 'check-failed', state: 'given-up' });
  });

  it('end with the time of a trial', async () => {
    const plugins = {
      'endless.ts': `export default { healthcheck: () => { for (;;); }, handler: async () => 1 };\n`,
      'example.ts': `export default { examples: [{ args: {}, expect: 1 }], handler: async () => { for (;;); } };\n`,
    };
    const house = await startSmallDaemon(plugins, { repair: { healthMs: 0, trialMs: 1000, maxAttempts: 1 } });
    onTestFinished(house.close);
    const root = { path: join(house.folder, 'plugins'), kind: 'plugins', label: 'plugins' } as const;
    for (const [file, text] of Object.entries({ ...plugins, 'loads.ts': 'for (;;);\nexport default { handler: () => 1 };\n' })) {
      const name = file === 'loads.ts' ? 'endless' : file.replace('.ts', '');
      const source = findSource(root, `${name}.ts`);
      const live = house.parts.plugins.findGeneration(house.parts.plugins.generations(name)[0]?.id ?? '');
      if (source === undefined || live === undefined) throw new Error(`${name} should serve`);
      const report = await house.parts.tryProposal({
        source,
        proposal: { files: new Map([[source.realEntry, text]]), by: 'test', sureness: 'maybe', note: 'As it is.' },
        diagnosed: live,
        failure: classifyCheck(source.path, { said: 'It failed.' }),
        signal: new AbortController().signal,
      });
      expect(report, file).toMatchObject({ verdict: 'not-mended', checks: [{ name: 'time', outcome: 'failed' }] });
    }
  });
});
