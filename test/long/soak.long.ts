import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDaemonHouse } from '../promises/daemon-house.ts';
import { makeDaemonFolder, removeDaemonFolder } from '../promises/daemon-process.ts';

const minutes = Number(process.env.HOTCELL_SOAK_MINUTES ?? 10);
const callers = 24;
/** What the second half may have more than the first, after collections: the slack of the allocator, not a leak. */
const mayGrowMiB = 48;

/** Keeps a count in its one cell, waits for values and timers, and tells its edition. */
function writeCounter(edition: number): string {
  return `let count = 0;
export default {
  description: 'Counts.', isolation: 'plugin', permissions: { kv: true },
  onReload: (state) => { count = state?.count ?? 0; },
  handler: async (_args: object, context) => {
    count += 1;
    await context.kv.set('count', count);
    return { edition: ${edition}, count };
  },
};
`;
}

function writeEcho(edition: number): string {
  return `export default {
  description: 'Answers what it got.',
  handler: async ({ value, waits }: { value: number; waits: boolean }) => {
    if (waits) await new Promise((resolve) => setTimeout(resolve, 3));
    return { value, edition: ${edition} };
  },
};
`;
}

/** Fails, loops, floods or grows, by turns: what it does is its own trouble. */
const villain = `export default {
  description: 'Misbehaves.', timeoutMs: 300,
  handler: async ({ how }: { how: number }) => {
    if (how % 4 === 0) throw new Error('on purpose');
    if (how % 4 === 1) for (;;) {}
    if (how % 4 === 2) { const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1)); }
    return 'x'.repeat(5e6);
  },
};
`;

describe('a daemon over a long time', () => {
  it(`answers rightly for ${minutes} minutes of calls, edits and trouble, and does not grow`, async () => {
    const folder = makeDaemonFolder(
      { 'echo.ts': writeEcho(0), 'counter.ts': writeCounter(0), 'villain.ts': villain },
      { grantRequested: true },
    );
    const house = await openDaemonHouse(folder);
    onTestFinished(async () => {
      await house.close();
      removeDaemonFolder(folder);
    });
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const endsAt = performance.now() + minutes * 60_000;
    const isOver = () => performance.now() > endsAt;
    const wrong: unknown[] = [];
    let answered = 0;

    const keepCalling = async (caller: number) => {
      for (let round = 0; !isOver(); round++) {
        const value = caller * 1e6 + round;
        const tool = caller === 0 ? 'villain' : caller < 4 ? 'counter' : 'echo';
        const answer = await house.call(
          tool,
          tool === 'echo' ? { value, waits: round % 3 === 0 } : tool === 'villain' ? { how: round } : {},
        );
        answered += 1;
        if (tool === 'villain' ? answer.status === 'success' : answer.status !== 'success') wrong.push({ tool, answer });
        if (tool === 'echo' && (answer.output as { value?: number } | undefined)?.value !== value) wrong.push({ value, answer });
      }
    };
    const calling = Array.from({ length: callers }, (_, caller) => keepCalling(caller));

    const residentMiB: number[] = [];
    for (let edition = 1; !isOver(); edition++) {
      const [file, text] = edition % 5 === 0 ? ['counter.ts', writeCounter(edition)] : ['echo.ts', writeEcho(edition)];
      const path = join(house.pluginDir, file);
      writeFileSync(`${path}.tmp~`, text);
      const published = house.event('plugin-change', ({ data }) => data.path.endsWith(file) && data.generation !== undefined);
      renameSync(`${path}.tmp~`, path);
      await published;
      if (edition % 50 === 0) {
        collect();
        residentMiB.push(process.memoryUsage().rss / 2 ** 20);
      }
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await Promise.all(calling);
    const half = Math.floor(residentMiB.length / 2);
    const [first, second] = [residentMiB.slice(0, half), residentMiB.slice(half)].map((part) => Math.max(0, ...part));
    console.log(`${answered} calls, resident MiB: ${residentMiB.map(Math.round).join(' ')}`);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(second).toBeLessThan((first ?? 0) + mayGrowMiB);
  });
});
