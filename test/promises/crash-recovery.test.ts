import { afterEach, describe, expect, it } from 'vitest';
import { eventContracts } from '../../src/operations/contracts/events.ts';
import { executionContracts } from '../../src/operations/contracts/executions.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { type CrashNotes, crashPlugins, createRandom, startCrashLoad } from './crash-load.ts';
import { type DaemonProcess, makeDaemonFolder, removeDaemonFolder, startDaemonProcess } from './daemon-process.ts';

const kills = Number(process.env.HOTCELL_KILLS ?? 2);
const seed = Number(process.env.HOTCELL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const longestLoadMs = 400;

let daemon: DaemonProcess | undefined;

afterEach(async () => {
  await daemon?.kill();
  if (daemon) removeDaemonFolder(daemon.folder);
  daemon = undefined;
});

describe('a daemon that is killed under load', () => {
  it(
    `keeps every acknowledged record over ${kills} kills, and its plugins without building them again`,
    async () => {
      process.stdout.write(`${kills} kills with HOTCELL_SEED=${seed}\n`);
      const random = createRandom(seed);
      const folder = makeDaemonFolder(crashPlugins, { executions: { keep: 10_000_000 } });
      daemon = await startDaemonProcess(folder);
      // Builds are kept in the background; one that stops keeps them all.
      await daemon.stop();
      daemon = await startDaemonProcess(folder);
      const before = await describePlugins(daemon);
      const { born } = readOutput(await daemon.call('quick', { n: 0 }));
      let acknowledged = 0;
      let interrupted = 0;
      for (let round = 0; round < kills; round++) {
        const { lastSeq } = await daemon.client.invoke(eventContracts.list, { after: 0, limit: 1 });
        const load = startCrashLoad(daemon, round);
        await load.firstAnswer;
        await pass(random() * longestLoadMs);
        await daemon.kill();
        const notes = await load.ended;
        acknowledged += notes.answered.length;

        daemon = await startDaemonProcess(folder);
        expect(notes.wrong).toEqual([]);
        expect(await describePlugins(daemon)).toEqual(before);
        const { items } = await daemon.client.invoke(eventContracts.list, { after: lastSeq, types: ['plugin-change'] });
        expect(items).toEqual([]);
        expect(readOutput(await daemon.call('quick', { n: round }))).toEqual({ n: round * 2, born });
        await expectRecords(daemon, notes, born);
        interrupted += await expectInterrupted(daemon, round);
        await expectKeys(daemon, notes);
      }
      process.stdout.write(`${acknowledged} calls were acknowledged, ${interrupted} were interrupted\n`);
      expect(daemon.output()).not.toMatch(/"level":50/);
    },
    30_000 + kills * 8000,
  );
});

/** What must be the same after a restart that builds nothing. */
async function describePlugins({ client }: DaemonProcess): Promise<unknown> {
  const { items } = await client.invoke(pluginContracts.list, {});
  return Promise.all(
    items.map(async ({ name, state, generation, contentHash }) => ({
      name,
      state,
      generation,
      contentHash,
      transitions: (await client.invoke(pluginContracts.why, { name })).items,
      generations: (await client.invoke(pluginContracts.generations, { name })).items,
    })),
  );
}

async function expectRecords({ client }: DaemonProcess, { answered }: CrashNotes, born: unknown): Promise<void> {
  for (const { answer, n } of answered) {
    expect(answer).toMatchObject({ status: 'success', output: { n: n * 2, born } });
    const record = await client.invoke(executionContracts.get, { id: answer.executionId });
    expect(record).toMatchObject({ status: 'success', arguments: { n }, output: { n: n * 2, born } });
  }
}

/** Everything that was under way reads `error` (interrupted); returns how many calls of the round that were. */
async function expectInterrupted({ client }: DaemonProcess, round: number): Promise<number> {
  for (const status of ['pending', 'running'] as const) {
    const { total } = await client.invoke(executionContracts.list, { status });
    expect({ status, total }).toEqual({ status, total: 0 });
  }
  const { items } = await client.invoke(executionContracts.list, { status: 'error' });
  for (const { error } of items) expect(error).toMatchObject({ code: 'interrupted' });
  const { items: slow } = await client.invoke(executionContracts.list, { tool: 'slow' });
  const ofRound = slow.filter(({ idempotencyKey }) => idempotencyKey?.startsWith(`slow-${round}-`) === true);
  for (const { status } of ofRound) expect(status).toBe('error');
  return ofRound.length;
}

/** A key is executed once, whatever happened; what was interrupted is said to be, and never run again. */
async function expectKeys(daemon: DaemonProcess, { answered, unanswered }: CrashNotes): Promise<void> {
  for (const { answer, n, key } of answered.slice(-20)) {
    if (key === undefined) continue;
    const again = await daemon.call('quick', { n }, { idempotencyKey: key });
    expect(again).toMatchObject({ executionId: answer.executionId, status: 'success', output: answer.output, replayed: true });
    const other = daemon.call('quick', { n: n + 1 }, { idempotencyKey: key });
    await expect(other).rejects.toMatchObject({ code: 'idempotency-mismatch' });
  }
  for (const { tool, key, n } of unanswered) {
    // A call of "slow" whose request never arrived would run for a minute now.
    if (tool === 'slow' && (await countRecords(daemon, tool, key)) === 0) continue;
    const again = await daemon.call(tool, { n }, { idempotencyKey: key }).catch((error: unknown) => error);
    expect(again).toSatisfy(isDocumented);
    expect(await countRecords(daemon, tool, key)).toBeLessThanOrEqual(1);
  }
}

/** It had not arrived, had ended, was interrupted, or died before its record was written. */
function isDocumented(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  if ('status' in answer && answer.status === 'success') return true;
  if ('code' in answer && answer.code === 'conflict')
    return answer instanceof Error && /record was not kept/.test(answer.message);
  const error = 'error' in answer ? answer.error : undefined;
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'interrupted' && 'replayed' in answer;
}

async function countRecords({ client }: DaemonProcess, tool: string, key: string): Promise<number> {
  const { items } = await client.invoke(executionContracts.list, { tool });
  return items.filter(({ idempotencyKey }) => idempotencyKey === key).length;
}

function readOutput({ output }: { readonly output?: unknown }): { readonly n: unknown; readonly born: unknown } {
  if (typeof output === 'object' && output !== null && 'n' in output && 'born' in output)
    return { n: output.n, born: output.born };
  throw new Error(`expected n and born, got ${JSON.stringify(output)}`);
}

/** The moment of a kill is a moment, not a wait for something. */
function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
