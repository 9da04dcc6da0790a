import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../../src/repair/failures/failure.ts';
import { goodPlugins } from './good-plugins.ts';
import { mutate } from './mutate.ts';
import type { Behaviour, openWorkbench, PluginTexts } from './workbench.ts';

type Workbench = Awaited<ReturnType<typeof openWorkbench>>;

/** A plugin that does not do what it should. */
export interface BrokenPlugin {
  readonly name: string;
  readonly kind: string;
  readonly files: PluginTexts;
  readonly behaviours: readonly Behaviour[];
  /** Nobody looked at what becomes of it while fixers were written. */
  readonly isHeldOut: boolean;
}

/** What became of one. */
export interface Repair {
  readonly plugin: BrokenPlugin;
  readonly failure: Failure;
  /**
   * `mended`: it does what it should. `wrong`: it builds, and what it does is another thing. `not-mended`: no proposal builds. Of a
   * failure that a call showed, `wrong` is what passes that call, which a repair sees, and not the others.
   */
  readonly outcome: 'mended' | 'wrong' | 'not-mended';
  readonly sureness?: 'sure' | 'maybe';
  readonly by: string;
  readonly ms: number;
  readonly checked: number;
}

/** What each good plugin does, by its name. */
export async function readBehaviours(bench: Workbench): Promise<Map<string, Behaviour[]>> {
  const behavioursOf = new Map<string, Behaviour[]>();
  for (const { name, files, calls } of goodPlugins) {
    const source = bench.lay(files);
    const built = await bench.build(source);
    if (!built.ok) throw new Error(`${name} should build: ${built.diagnostic.message}`);
    const behaviours: Behaviour[] = [];
    for (const call of calls) {
      const answer = await bench.call(source, built, call);
      if ('failure' in answer) throw new Error(`${name} should work: ${answer.failure.message}`);
      behaviours.push({ ...call, expect: answer.output });
    }
    behavioursOf.set(name, behaviours);
  }
  return behavioursOf;
}

/** The mutants of a seed that fail, `count` of each good plugin. */
export async function* breakPlugins(
  bench: Workbench,
  behavioursOf: ReadonlyMap<string, readonly Behaviour[]>,
  { seed, count, isHeldOut }: { readonly seed: number; readonly count: number; readonly isHeldOut: boolean },
): AsyncGenerator<BrokenPlugin> {
  for (const [index, { name, files }] of goodPlugins.entries()) {
    const behaviours = behavioursOf.get(name) ?? [];
    let made = 0;
    for (const mutant of mutate(files, seed * 1000 + index)) {
      if (made >= count) break;
      const failure = await bench.findFailure(bench.lay(mutant.files), behaviours);
      if (failure === undefined) continue;
      made++;
      yield { name: `${name}: ${mutant.kind} ${made}`, kind: mutant.kind, files: mutant.files, behaviours, isHeldOut };
    }
  }
}

/** Has the fixers mend one plugin, and looks whether it does what it should. */
export async function repairOne(bench: Workbench, plugin: BrokenPlugin): Promise<Repair> {
  const source = bench.lay(plugin.files);
  const failure = await bench.findFailure(source, plugin.behaviours);
  if (failure === undefined) throw new Error(`${plugin.name} should fail`);
  const { proposal, builds, ms, checked } = await bench.mend(source, failure);
  const base = { plugin, failure, by: proposal?.by ?? '', ms, checked };
  if (proposal === undefined || !builds) return { ...base, outcome: 'not-mended' };
  const built = await bench.build(source, proposal.files);
  const passed: boolean[] = [];
  for (const behaviour of built.ok ? plugin.behaviours : []) {
    const answer = built.ok ? await bench.call(source, built, behaviour) : undefined;
    passed.push(answer !== undefined && 'output' in answer && isDeepStrictEqual(answer.output, behaviour.expect));
  }
  const { sureness } = proposal;
  if (built.ok && passed.every((isPassed) => isPassed)) return { ...base, sureness, outcome: 'mended' };
  // A call that failed is tried again before anything is said to be mended.
  const isShown = failure.class === 'runtime-error' || failure.class === 'check-failed' || failure.class === 'limit-reached';
  return { ...base, sureness, outcome: isShown && passed.includes(false) ? 'not-mended' : 'wrong' };
}
