import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventContracts } from '../../src/operations/contracts/events.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { repairContracts } from '../../src/operations/contracts/repairs.ts';
import { until } from '../plugins/rig/supervisor-rig.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const good = `export default {
  description: 'Adds.',
  handler: async (args: { a: number }) => {
    const sum = args.a + 1
    return String(sum);
  },
};
`;
const broken = good.replace('  },\n};', '  ,\n};');

async function seen(daemon: DaemonProcess, type: string): Promise<void> {
  await until(async () => {
    const { items } = await daemon.client.invoke(eventContracts.list, {});
    return items.some((event) => event.type === type);
  }, type);
}

describe('a daemon that is killed in a repair', () => {
  it.each(['plugin-diagnostic', 'repair-start', 'repair-update', 'repair-end'])(
    'after %s has generations, files and history that agree',
    async (type) => {
      const folder = makeDaemonFolder({ 'add.ts': broken });
      try {
        const first = await startDaemonProcess(folder);
        await seen(first, type);
        await first.kill();
        const daemon = await startDaemonProcess(folder);
        const { client } = daemon;
        const settled = await until(async () => {
          const { items } = await client.invoke(repairContracts.list, {});
          const isOver = items.every(({ state }) => !['running', 'publishing', 'applying'].includes(state));
          return isOver && items.some(({ state }) => state === 'published') && items;
        }, 'a repair that is published');
        const published = settled.filter(({ state }) => state === 'published');
        expect(published).toHaveLength(1);
        const view = await client.invoke(pluginContracts.get, { name: 'add' });
        expect(view.author).toBe('repair');
        const { items } = await client.invoke(pluginContracts.generations, { name: 'add' });
        expect(items.find(({ current }) => current)?.id).toBe(published[0]?.generation);
        expect(await daemon.call('add', { a: 1 })).toMatchObject({ output: '2' });
        expect(readFileSync(join(folder, 'plugins', 'add.ts'), 'utf8')).toBe(broken);
        await daemon.stop();
      } finally {
        removeDaemonFolder(folder);
      }
    },
  );
});
