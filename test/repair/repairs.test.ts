import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import type { Repair } from '../../src/repair/repair.ts';
import { useSharedParts } from '../plugins/rig/shared-parts.ts';
import { answering, makeFolder, until } from '../plugins/rig/supervisor-rig.ts';
import { broken, mendedText, type RepairRig, startRepairRig } from './repair-rig.ts';

const shared = useSharedParts();

/** The newest repair, when it stands there. */
function reached(rig: RepairRig, state: Repair['state']): Promise<Repair> {
  return until(() => rig.repairs.list({ limit: 1 }).find((repair) => repair.state === state), `a repair that is ${state}`);
}

describe('a failure', () => {
  it('is mended by a sure fixer, and the file is left alone', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken() });
    const repair = await reached(rig, 'published');
    expect(repair).toMatchObject({
      author: 'repair',
      class: 'does-not-compile',
      attempts: [{ by: 'broken-word', outcome: 'mended' }],
    });
    expect(repair.proposal?.diff).toContain('+++ b/hello.ts');
    expect(await rig.call('hello')).toBe('mended');
    expect(readFileSync(rig.file, 'utf8')).toBe(broken());
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready', author: 'repair' });
    const told = rig.events.filter(({ type }) => type.startsWith('repair-'));
    expect(told.map(({ type }) => type)).toEqual(['repair-start', 'repair-update', 'repair-end']);
  });

  it('is mended while the last good generation serves', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good') });
    writeFileSync(rig.file, broken());
    await reached(rig, 'published');
    expect(await rig.call('hello')).toBe('mended');
  });

  it('that stays the same after a change is no reason to go on', async () => {
    const text = "export default { description: 'A.', handler: async () => BROKEN(BROKEN('x' };\n";
    const rig = await startRepairRig(shared.get(), { text });
    await reached(rig, 'given-up');
    expect(rig.repairs.list({ limit: 5 })).toHaveLength(1);
  });

  it('is never mended in a file that was not diagnosed', async () => {
    const outside = join(makeFolder(), 'other.ts');
    writeFileSync(outside, 'export const one = 1;');
    const rig = await startRepairRig(shared.get(), {
      text: 'export default {{',
      async proposeByModel({ diagnosis, tryPatch }) {
        const own = [...diagnosis.sources.keys()].map((path) => [path, mendedText()] as const);
        const files = new Map([...own, [outside, 'export const one = 2;']]);
        return (await tryPatch({ files, by: 'm', sureness: 'maybe', note: '' })) === undefined ? 'Refused.' : 'Tried.';
      },
    });
    expect(await reached(rig, 'given-up')).toMatchObject({ attempts: [], reason: expect.stringContaining('Refused.') });
    expect(readFileSync(outside, 'utf8')).toBe('export const one = 1;');
  });

  it('that is looked for by many at once is looked for once', async () => {
    let checks = 0;
    const gate = Promise.withResolvers<void>();
    const onCheck = () => {
      checks++;
      return gate.promise;
    };
    const rig = await startRepairRig(shared.get(), { text: answering('good'), onCheck });
    const asking = Promise.allSettled(Array.from({ length: 50 }, () => rig.repairs.begin('hello', false)));
    // Each of them looks at the plugin first, one after the other.
    await rig.supervisor.mending.look(rig.file);
    await new Promise(setImmediate);
    gate.resolve();
    expect((await asking).map(({ status }) => status)).toEqual(Array(50).fill('rejected'));
    expect(checks).toBe(1);
  });

  it('is left alone when nothing is known, with one line that says what to do', async () => {
    const rig = await startRepairRig(shared.get(), { text: 'export default {{' });
    const repair = await reached(rig, 'given-up');
    expect(repair.reason).toBe(`Nothing is known that would mend it. ${repair.failure.fix}`);
    await rig.supervisor.reload('hello');
    await rig.repairs.idle();
    await until(() => rig.repairs.noteOf(repair.path).refusal !== undefined, 'the brake');
    expect(rig.repairs.noteOf(repair.path).refusal).toContain('was not mended before');
    expect(rig.repairs.list({ limit: 5 })).toHaveLength(1);
    expect(rig.repairs.facts().refused['same-diagnosis']).toBe(1);
  });

  it('of a call is tried again when a person asks, while the file is the same', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good') });
    await until(() => rig.supervisor.list()[0]?.state === 'ready' || undefined, 'the plugin');
    await expect(rig.repairs.begin('hello', true)).rejects.toMatchObject({
      code: 'conflict',
      fix: 'Make the call that fails once more, then: hotcell repair start hello.',
    });
    const { code, key, message, fix } = { code: 'handler-threw', key: 'k', message: 'TypeError: no', fix: 'Mend it.' } as const;
    const failure = { path: rig.file, class: 'runtime-error', executionId: 'exe_1', code, key, message, fix } as const;
    rig.repairs.consider(failure);
    const first = await reached(rig, 'given-up');
    expect(first.reason).toBe('Nothing is known that would mend it. Mend it. The call: hotcell executions show exe_1.');
    const second = await rig.repairs.begin('hello', true);
    expect([second.state, second.id === first.id]).toEqual(['given-up', false]);
    writeFileSync(rig.file, answering('better'));
    await until(async () => (await rig.call('hello')) === 'better' || undefined, 'the save');
    await expect(rig.repairs.begin('hello', true)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('becomes a proposal where the config says so, at once after an edit of it', async () => {
    const rig = await startRepairRig(shared.get(), {
      text: answering('good'),
      settings: { mode: { 'does-not-compile': 'propose' } },
    });
    writeFileSync(rig.file, broken());
    const proposed = await reached(rig, 'proposed');
    expect(await rig.call('hello')).toBe('good');
    expect(rig.supervisor.get('hello').state).toBe('degraded');
    rig.settings.current = { ...rig.settings.current, mode: {} };
    writeFileSync(rig.file, broken('other'));
    await reached(rig, 'published');
    expect(rig.repairs.get(proposed.id).state).toBe('superseded');
  });

  it('is not touched where the config says off, until a person asks', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), settings: { mode: { 'does-not-compile': 'off' } } });
    await until(() => rig.repairs.facts().refused.off > 0, 'the refusal');
    expect(rig.repairs.list({ limit: 5 })).toEqual([]);
    await expect(rig.repairs.begin('hello', false)).rejects.toMatchObject({ code: 'conflict' });
    expect(await rig.repairs.begin('hello', true)).toMatchObject({ state: 'proposed' });
  });

  it('is proposed when a fixer only guesses', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    await reached(rig, 'proposed');
    expect(rig.supervisor.get('hello').state).toBe('failed');
  });
});

describe('the end of a repair', () => {
  it('is told only when its generation is on the disk, with which one serves', async () => {
    const rig = await startRepairRig(shared.get());
    const seen: unknown[] = [];
    rig.log.subscribe({ types: ['repair-end'] }, () => {
      const [row] = rig.store.plugins.list();
      const current = row?.currentGeneration == null ? undefined : rig.store.generations.get(row.currentGeneration);
      seen.push([row?.state, current?.author]);
    });
    writeFileSync(rig.file, broken());
    const repair = await reached(rig, 'published');
    await until(() => seen.length > 0, 'the end');
    expect(seen).toEqual([['ready', 'repair']]);
    expect(rig.store.generations.get(repair.generation ?? '')?.id).toBe(repair.generation);
  });

  it('is counted with what was tried, used and refused', async () => {
    const rig = await startRepairRig(shared.get(), {
      text: 'export default {{',
      proposeByModel: async ({ onUse }) => {
        onUse({ tokens: 120, cost: 0.25 });
        return 'It has nothing to say.';
      },
    });
    const metrics = createMetrics(rig.log, () => []);
    onTestFinished(() => metrics.close());
    await reached(rig, 'given-up');
    writeFileSync(rig.file, broken());
    await reached(rig, 'published');
    const gauges = { version: '1', uptimeMs: 1, plugins: {}, tools: 0, calls: { pending: 0, running: 0 } };
    const text = metrics.render({ ...gauges, repairs: rig.repairs.facts() });
    expect(text).toContain('hotcell_repair_attempts_total{outcome="mended"} 1');
    expect(text).toContain('hotcell_repairs_total{state="published"} 1');
    expect(text).toContain('hotcell_repairs{state="running"} 0');
    expect(text).toContain('hotcell_repairs_refused_total{brake="back-off"} 0');
    expect(text).toContain('hotcell_repair_tokens_day 120');
    expect(text).toContain('hotcell_repair_cost_day 0.25');
  });
});

describe('a save', () => {
  it('in the middle of a repair wins', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good') });
    rig.state.beforeTrial = () => writeFileSync(rig.file, answering('of a person'));
    writeFileSync(rig.file, broken());
    await reached(rig, 'superseded');
    await until(() => rig.supervisor.get('hello').state === 'ready', 'the save');
    expect(await rig.call('hello')).toBe('of a person');
    expect(readFileSync(rig.file, 'utf8')).toBe(answering('of a person'));
    expect(rig.supervisor.generations('hello').every(({ author }) => author === 'operator')).toBe(true);
  });

  it('after a repair wins, and the repair says so', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken() });
    const repair = await reached(rig, 'published');
    writeFileSync(rig.file, answering('of a person'));
    await until(() => rig.repairs.get(repair.id).state === 'superseded', 'the end of the repair');
    expect(await rig.call('hello')).toBe('of a person');
    await expect(rig.repairs.rollback(repair.id, 'local')).rejects.toMatchObject({ code: 'conflict' });
    await expect(rig.repairs.apply(repair.id, 'local')).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(rig.file, 'utf8')).toBe(answering('of a person'));
  });
});

describe('a save while a model thinks', () => {
  /** A model that answers when its turn says so; the signal of each turn is kept. */
  async function startThinking() {
    const signals: AbortSignal[] = [];
    const answers: (() => void)[] = [];
    const rig = await startRepairRig(shared.get(), {
      text: 'export default {{',
      proposeByModel: ({ signal }) =>
        new Promise((resolve, reject) => {
          signals.push(signal);
          answers.push(() => resolve('It has nothing to say.'));
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    await until(() => signals.length === 1, 'the question');
    return { ...rig, signals, answers };
  }

  it('ends its work, and nothing is said of the content that is gone', async () => {
    const { file, repairs, supervisor, signals } = await startThinking();
    writeFileSync(file, answering('of a person'));
    await until(() => signals[0]?.aborted === true, 'the end of the work');
    await repairs.idle();
    expect(repairs.list({ limit: 5 }).map(({ state, reason }) => [state, reason])).toEqual([
      ['superseded', 'The file was saved since, and the save counts.'],
    ]);
    expect(supervisor.get('hello').state).toBe('ready');
  });

  it('with another mistake is repaired in its turn', async () => {
    const { file, repairs, signals } = await startThinking();
    writeFileSync(file, broken('of a person'));
    await until(() => repairs.list({ limit: 5 }).some(({ state }) => state === 'published'), 'the second repair');
    expect(signals).toHaveLength(1);
    expect(repairs.list({ limit: 5 }).map(({ state }) => state)).toEqual(['published', 'superseded']);
  });

  it('that the watcher has not seen yet leaves no proposal behind', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good'), sureness: 'maybe' });
    rig.state.beforeTrial = () => writeFileSync(rig.file, answering('of a person'));
    writeFileSync(rig.file, broken());
    await until(async () => (await rig.call('hello')) === 'of a person' || undefined, 'the save');
    await rig.repairs.idle();
    expect(rig.repairs.list({ limit: 5 }).map(({ state }) => state)).toEqual(['superseded']);
  });
});

describe('a plugin that is well', () => {
  it('is never touched', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good') });
    await expect(rig.repairs.begin('hello', true)).rejects.toMatchObject({ code: 'conflict' });
    expect(rig.repairs.list({ limit: 5 })).toEqual([]);
  });
});

describe('apply', () => {
  it('writes what was published, as the work of who applies, and rollback puts the original back', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken() });
    const repair = await reached(rig, 'published');
    expect(await rig.repairs.apply(repair.id, 'local')).toMatchObject({ state: 'applied' });
    expect(readFileSync(rig.file, 'utf8')).toBe(mendedText());
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready', author: 'operator' });
    expect(await rig.repairs.rollback(repair.id, 'local')).toMatchObject({ state: 'rolled-back' });
    expect(readFileSync(rig.file, 'utf8')).toBe(broken());
  });

  it('writes a proposal', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    const repair = await reached(rig, 'proposed');
    expect(await rig.repairs.apply(repair.id, 'local')).toMatchObject({ state: 'applied' });
    expect(await rig.call('hello')).toBe('mended');
  });

  it('writes nothing over an edit, and neither does rollback', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    const repair = await reached(rig, 'proposed');
    const edited = `${broken()}// of a person\n`;
    writeFileSync(rig.file, edited);
    await expect(rig.repairs.apply(repair.id, 'local')).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(rig.file, 'utf8')).toBe(edited);
    const next = await until(
      () => rig.repairs.list({ limit: 1 }).find(({ id, state }) => id !== repair.id && state === 'proposed'),
      'a proposal for the edit',
    );
    await rig.repairs.apply(next.id, 'local');
    writeFileSync(rig.file, answering('of a person'));
    await expect(rig.repairs.rollback(next.id, 'local')).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(rig.file, 'utf8')).toBe(answering('of a person'));
  });

  it('is done by the daemon where repair.write is on', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), settings: { write: true } });
    await reached(rig, 'applied');
    expect(readFileSync(rig.file, 'utf8')).toBe(mendedText());
    expect(rig.supervisor.get('hello')).toMatchObject({ state: 'ready', author: 'repair' });
  });
});

describe('reject and rollback', () => {
  it('keep the same content from being repaired again by itself', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken() });
    const repair = await reached(rig, 'published');
    expect(await rig.repairs.rollback(repair.id, 'local')).toMatchObject({ state: 'rolled-back' });
    expect(rig.supervisor.get('hello').state).toBe('failed');
    await until(() => rig.repairs.facts().refused['refused-by-person'] > 0, 'the brake');
    expect(rig.repairs.list({ limit: 5 })).toHaveLength(1);
  });

  it('of a repair that lies in the file put nothing of it back to work, and start no other', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), settings: { write: true } });
    const { id } = await reached(rig, 'applied');
    const ends = await Promise.allSettled([rig.repairs.rollback(id, 'local'), rig.repairs.rollback(id, 'local')]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(rig.supervisor.get('hello').state).toBe('failed');
    await until(() => rig.repairs.facts().refused['refused-by-person'] > 0, 'the brake');
    await rig.repairs.idle();
    expect(rig.repairs.list({ limit: 5 })).toEqual([
      expect.objectContaining({ state: 'rolled-back', reason: expect.stringContaining('Nothing serves; ') }),
    ]);
  });

  it('never bring back what was taken back before', async () => {
    const rig = await startRepairRig(shared.get(), { text: answering('good') });
    writeFileSync(rig.file, broken());
    const first = await reached(rig, 'published');
    await rig.repairs.apply(first.id, 'local');
    await rig.repairs.rollback(first.id, 'local');
    expect(await rig.call('hello')).toBe('good');
    const second = await rig.repairs.begin('hello', true);
    expect([second.state, await rig.call('hello')]).toEqual(['published', 'mended']);
    await rig.repairs.rollback(second.id, 'local');
    expect(await rig.call('hello')).toBe('good');
    await until(() => rig.repairs.noteOf(first.path).refusal?.includes('was turned down') === true, 'the brake');
  });

  it('are asked for once: who starts a repair again is shown the proposal that waits', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    const { id } = await reached(rig, 'proposed');
    expect(await rig.repairs.begin('hello', true)).toMatchObject({ id, state: 'proposed' });
    expect(rig.repairs.list({ limit: 5 })).toHaveLength(1);
  });

  it('turn a proposal down with the reason', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    const { id } = await reached(rig, 'proposed');
    expect(rig.repairs.reject(id, 'not so')).toMatchObject({
      state: 'rejected',
      reason: 'A person turned it down: not so. The same content is tried again only by: hotcell repair start hello.',
    });
    await expect(rig.repairs.apply(id, 'local')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('do not throw away a proposal before its time is over', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken(), sureness: 'maybe' });
    const { id } = await reached(rig, 'proposed');
    rig.state.clock += rig.settings.current.proposalMs;
    expect(rig.repairs.list({ limit: 1 })[0]?.state).toBe('proposed');
    rig.state.clock += 1;
    expect(rig.repairs.list({ limit: 1 })[0]?.state).toBe('expired');
    expect(rig.repairs.get(id).reason).toContain('repair.proposalMs');
  });
});

describe('after a restart', () => {
  it('a published repair serves on, and can be taken back', async () => {
    const rig = await startRepairRig(shared.get(), { text: broken() });
    const { id } = await reached(rig, 'published');
    await rig.repairs.close();
    await rig.stop();
    const again = await startRepairRig(shared.get(), { home: rig.home });
    expect(await again.call('hello')).toBe('mended');
    expect(again.repairs.get(id)).toMatchObject({ state: 'published', reason: expect.stringContaining(`apply ${id}`) });
    expect(again.repairs.list({ limit: 5 })).toHaveLength(1);
    await again.repairs.rollback(id, 'local');
    expect(again.supervisor.get('hello').state).toBe('failed');
  });
});
