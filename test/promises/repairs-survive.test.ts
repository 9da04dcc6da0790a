import { readdirSync, readFileSync, watch } from 'node:fs';
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

const isLong = process.env.HOTCELL_LONG !== undefined;

describe('a daemon that is killed in a repair', { timeout: 120_000 }, () => {
  it.each(isLong ? ['plugin-diagnostic', 'repair-start', 'repair-update', 'repair-end'] : ['repair-end'])(
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
        // What was told stays: no repair begins again.
        if (type === 'repair-end') expect(settled).toHaveLength(1);
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

describe('a daemon that is killed while a repair is applied', { timeout: 120_000 }, () => {
  // Changes in the folder of plugins that are seen before: the new text beside the file, then in its place.
  it.each(isLong ? [0, 1, 2, 3] : [1])(
    'after %i changes in the folder leaves the old or the new file, whole, and a history that says which',
    async (changes) => {
      const folder = makeDaemonFolder({ 'add.ts': broken });
      const file = join(folder, 'plugins', 'add.ts');
      try {
        const first = await startDaemonProcess(folder);
        await seen(first, 'repair-end');
        const { items } = await first.client.invoke(repairContracts.list, { state: 'published' });
        const { id = '' } = items[0] ?? {};
        const { proposal } = await first.client.invoke(repairContracts.get, { id });
        const mended = proposal?.files[0]?.after ?? '';
        const { promise: reached, resolve } = Promise.withResolvers<void>();
        let left = changes;
        const watcher = watch(join(folder, 'plugins'), () => {
          left -= 1;
          if (left === 0) resolve();
        });
        // Its answer, too, ends the wait: there may be fewer changes than that.
        const answered = first.client.invoke(repairContracts.apply, { id }).catch(() => undefined);
        if (changes > 0) await Promise.race([reached, answered]);
        await first.kill();
        watcher.close();
        const text = readFileSync(file, 'utf8');
        expect([broken, mended]).toContain(text);

        const daemon = await startDaemonProcess(folder);
        const standing = async () => (await daemon.client.invoke(repairContracts.list, {})).items;
        const [now, ...others] = await until(async () => {
          const all = await standing();
          return all.length > 0 && all.every(({ state }) => state === 'published' || state === 'applied') && all;
        }, 'the end of all repairs');
        expect(others).toEqual([]);
        expect(now?.state).toBe(text === mended ? 'applied' : 'published');
        expect(await daemon.call('add', { a: 1 })).toMatchObject({ output: '2' });
        expect(readFileSync(file, 'utf8')).toBe(text);
        // Half of a text that the kill left beside it is gone.
        expect(readdirSync(join(folder, 'plugins')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
        if (text !== mended) await daemon.client.invoke(repairContracts.apply, { id: now?.id ?? '' });
        expect(readFileSync(file, 'utf8')).toBe(mended);
        expect((await standing()).map(({ state }) => state)).toEqual(['applied']);
        await daemon.stop();
      } finally {
        removeDaemonFolder(folder);
      }
    },
  );
});
