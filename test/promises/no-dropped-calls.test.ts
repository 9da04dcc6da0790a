import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type DaemonHouse, openDaemonHouse } from './daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from './daemon-process.ts';

const reloads = Number(process.env.HOTCELL_RELOADS ?? 60);
const callers = 50;
/** From here on the second half is long enough to tell a leak from the slack of the collector. */
const enoughToJudgeMemory = 1000;
const mayGrowMiB = 6;

let house: DaemonHouse | undefined;

afterEach(async () => {
  await house?.close();
  if (house) removeDaemonFolder(house.folder);
  house = undefined;
});

/** A plugin that tells its edition, at once or after a while. */
function writeEdition(edition: number): string {
  return `export default {
  name: 'edition',
  description: 'Tells its edition.',
  handler: async (args: { caller: number; waits: boolean }) => {
    if (args.waits) await new Promise((resolve) => setTimeout(resolve, 5));
    return { edition: ${edition}, caller: args.caller };
  },
};
`;
}

/** Saves like an editor that renames into place, or like one that writes in place. */
function save(file: string, text: string, isRenamed: boolean): void {
  if (!isRenamed) {
    writeFileSync(file, text);
    return;
  }
  writeFileSync(`${file}.tmp~`, text);
  renameSync(`${file}.tmp~`, file);
}

describe('reloads under load', () => {
  it(
    `lose no call in ${reloads} reloads under ${callers} callers, and answer with an edition that was current`,
    async () => {
      const folder = makeDaemonFolder({ 'edition.ts': writeEdition(0) }, { executions: { keep: 10_000_000 } });
      house = await openDaemonHouse(folder);
      const { call, daemon, pluginDir, client } = house;
      const wrong: unknown[] = [];
      let acknowledged = 0;
      let published = 0;
      let isOver = false;

      const keepCalling = async (caller: number) => {
        for (let round = 0; !isOver; round++) {
          const oldest = published;
          try {
            const answer = await call('edition', { caller, waits: round % 3 === 0 });
            acknowledged++;
            if (!isRight(answer.output, caller, oldest, published)) wrong.push({ answer, oldest, newest: published });
          } catch (error) {
            wrong.push(error);
          }
        }
      };
      const calling = Array.from({ length: callers }, (_, caller) => keepCalling(caller));

      const heapMiB: number[] = [];
      for (let edition = 1; edition <= reloads; edition++) {
        const whenLive = whenPublished(house, edition + 1, () => {
          published = edition;
        });
        save(join(pluginDir, 'edition.ts'), writeEdition(edition), edition % 2 === 0);
        await whenLive;
        if (edition === Math.floor(reloads / 2)) heapMiB.push(measureHeapMiB());
      }
      isOver = true;
      await Promise.all(calling);
      heapMiB.push(measureHeapMiB());

      expect(wrong.slice(0, 3)).toEqual([]);
      expect(await client.invoke(pluginContracts.get, { name: 'edition' })).toMatchObject({
        state: 'ready',
        generation: reloads + 1,
      });
      const { total } = await client.invoke(executionContracts.list, { limit: 1 });
      expect(total).toBe(acknowledged);
      const succeeded = await client.invoke(executionContracts.list, { status: 'success', limit: 1 });
      expect(succeeded.total).toBe(acknowledged);
      expect(daemon.parts.caller.load()).toEqual({ pending: 0, running: 0 });

      const [middle = 0, end = 0] = heapMiB;
      process.stdout.write(
        `${reloads} reloads, ${acknowledged} calls; heap ${middle.toFixed(1)} MiB after half, ${end.toFixed(1)} MiB after all\n`,
      );
      if (reloads >= enoughToJudgeMemory) expect(end).toBeLessThan(middle + mayGrowMiB);
    },
    30_000 + reloads * 1000,
  );
});

/** Tells in the very turn in which the generation became current, before any call can be accepted by it. */
function whenPublished({ daemon }: DaemonHouse, generation: number, onPublished: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = daemon.parts.events.subscribe({ types: ['plugin-change'] }, (event) => {
    if (event.type !== 'plugin-change' || event.data.generation !== generation) return;
    onPublished();
    resolve();
  });
  return promise.finally(stop);
}

function isRight(output: unknown, caller: number, oldest: number, newest: number): boolean {
  if (typeof output !== 'object' || output === null || !('edition' in output) || !('caller' in output)) return false;
  const { edition } = output;
  return output.caller === caller && typeof edition === 'number' && edition >= oldest && edition <= newest;
}

function measureHeapMiB(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
