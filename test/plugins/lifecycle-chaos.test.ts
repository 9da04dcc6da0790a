import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useSharedParts } from './rig/shared-parts.ts';
import { answering, makeFolder, type Rig, startRig, until } from './rig/supervisor-rig.ts';

const shared = useSharedParts();
const runs = Number(process.env.HOTCELL_CHAOS_RUNS ?? 8);
const seed = process.env.HOTCELL_CHAOS_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.HOTCELL_CHAOS_SEED);

/** What a plugin should be, told in as few words as possible. */
interface Expected {
  /** What lies in the folder: a good text by its number, something broken, or nothing. */
  file: number | 'broken' | undefined;
  /** The answer of the generation that serves, or would serve if the plugin were switched on. */
  chosen: number | undefined;
  /** Good texts in the order in which they were first built. */
  built: number[];
  power: 'on' | 'disabled' | 'quarantined';
  /** The text that a rollback turned away from; it holds until somebody saves again, be it the same. */
  pinnedFrom: number | undefined;
}

interface Model {
  readonly plugins: Record<string, Expected>;
}

interface World {
  rig: Rig;
}

const unborn = (): Expected => ({ file: undefined, chosen: undefined, built: [], power: 'on', pinnedFrom: undefined });

const isPinned = ({ pinnedFrom, file }: Expected) => pinnedFrom !== undefined && pinnedFrom === file;

function stateOf(plugin: Expected): string {
  if (plugin.file === undefined) return 'absent';
  if (plugin.power !== 'on') return plugin.power;
  if (isPinned(plugin)) return 'ready';
  if (plugin.file === 'broken') return plugin.chosen === undefined ? 'failed' : 'degraded';
  return 'ready';
}

/** What a look at the folder makes of a plugin. */
function takeIn(plugin: Expected): void {
  if (plugin.power !== 'on' || isPinned(plugin)) return;
  plugin.pinnedFrom = undefined;
  if (typeof plugin.file !== 'number') return;
  plugin.chosen = plugin.file;
  if (!plugin.built.includes(plugin.file)) plugin.built.push(plugin.file);
}

function save(plugin: Expected, file: number | 'broken'): void {
  const isOther = plugin.file !== file;
  if (!isOther && plugin.pinnedFrom === undefined) return;
  plugin.pinnedFrom = undefined;
  if (isOther && plugin.power === 'quarantined') {
    // Only other content lifts a quarantine, and what served before does not come back with it.
    plugin.power = 'on';
    if (file === 'broken') plugin.chosen = undefined;
  }
  plugin.file = file;
  takeIn(plugin);
}

async function agree({ rig }: World, model: Model, what: string): Promise<void> {
  for (const [name, plugin] of Object.entries(model.plugins)) {
    const state = stateOf(plugin);
    const answer = state === 'ready' || state === 'degraded' ? `${name} ${plugin.chosen}` : undefined;
    await until(
      async () => {
        const view = rig.supervisor.list().find((listed) => listed.path === `plugins/${name}.ts`);
        if ((view?.state ?? 'absent') !== state) return false;
        return (await callOrNothing(rig, name)) === answer;
      },
      `${name} to be ${state} and to answer ${answer} after ${what}; it is ${describeView(rig, name)}`,
    );
  }
}

function describeView(rig: Rig, name: string): string {
  const view = rig.supervisor.list().find((listed) => listed.path === `plugins/${name}.ts`);
  return JSON.stringify({
    state: view?.state,
    generation: view?.generation,
    why: view && rig.supervisor.why(view.path).slice(-3),
  });
}

async function callOrNothing(rig: Rig, name: string): Promise<unknown> {
  try {
    rig.registry.resolve(name);
  } catch {
    return undefined;
  }
  return rig.call(name);
}

function put(rig: Rig, name: string, text: string, way: string): void {
  const file = join(rig.plugins, `${name}.ts`);
  const part = join(rig.plugins, `.${name}.part`);
  writeFileSync(way === 'in place' ? file : part, text);
  if (way !== 'in place') renameSync(part, file);
}

const textOf = (name: string, file: number | 'broken') =>
  file === 'broken' ? 'export default { handler: async () => {{ ' : answering(`${name} ${file}`);

/** One command: what it does to the model, and to the real thing. */
function command(
  label: string,
  check: (model: Model) => boolean,
  run: (model: Model, world: World) => Promise<void>,
): fc.AsyncCommand<Model, World> {
  return {
    check,
    toString: () => label,
    async run(model, world) {
      await run(model, world);
      await agree(world, model, label);
    },
  };
}

const names = fc.constantFrom('alpha', 'beta');
const of = (model: Model, name: string): Expected => (model.plugins[name] ??= unborn());
const exists = (name: string) => (model: Model) => of(model, name).file !== undefined;
const files = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) },
  { weight: 1, arbitrary: fc.constant('broken' as const) },
);
const ways = fc.constantFrom('in place', 'rename');
const always = () => true;

const saves = fc.tuple(names, files, ways).map(([name, file, way]) =>
  command(`save ${name} ${file} ${way}`, always, async (model, { rig }) => {
    put(rig, name, textOf(name, file), way);
    save(of(model, name), file);
  }),
);

// Saves are what happens most, and what most commands need to have happened.
const commands = [
  saves,
  saves,
  saves,
  fc.tuple(names, fc.array(files, { minLength: 2, maxLength: 6 }), ways).map(([name, storm, way]) =>
    command(
      `storm ${name} ${storm} ${way}`,
      // What is built of a storm is left to the clock, so the history of generations is not told from here on.
      (model) => of(model, name).power === 'on' && of(model, name).file !== undefined,
      async (model, { rig }) => {
        for (const file of storm) put(rig, name, textOf(name, file), way);
        const last = storm.at(-1) ?? 'broken';
        if (last === 'broken') put(rig, name, textOf(name, 1), way);
        save(of(model, name), last === 'broken' ? 1 : last);
        await agree({ rig }, model, 'the storm');
        of(model, name).built = await readBuilt(rig, name);
      },
    ),
  ),
  names.map((name) =>
    command(`delete ${name}`, exists(name), async (model, { rig }) => {
      rmSync(join(rig.plugins, `${name}.ts`));
      model.plugins[name] = unborn();
    }),
  ),
  names.map((name) =>
    command(
      `delete and save again ${name}`,
      (model) => typeof of(model, name).file === 'number',
      async (model, { rig }) => {
        const { file = 'broken' } = of(model, name);
        rmSync(join(rig.plugins, `${name}.ts`));
        put(rig, name, textOf(name, file), 'rename');
        save(of(model, name), file);
      },
    ),
  ),
  names.map((name) =>
    command(`reload ${name}`, exists(name), async (model, { rig }) => {
      const plugin = of(model, name);
      if (plugin.power === 'quarantined') {
        plugin.power = 'on';
        if (plugin.file === 'broken') plugin.chosen = undefined;
      }
      if (plugin.power === 'on') plugin.pinnedFrom = undefined;
      takeIn(plugin);
      const result = await rig.supervisor.reload(`plugins/${name}.ts`);
      expect(result.state).toBe(stateOf(plugin));
      expect(result.ok).toBe(stateOf(plugin) === 'ready');
    }),
  ),
  fc.tuple(names, fc.boolean()).map(([name, enabled]) =>
    command(`${enabled ? 'enable' : 'disable'} ${name}`, exists(name), async (model, { rig }) => {
      const plugin = of(model, name);
      if (enabled || plugin.power !== 'disabled') await rig.supervisor.setEnabled(`plugins/${name}.ts`, enabled);
      if (!enabled) plugin.power = 'disabled';
      else if (plugin.power !== 'on') {
        plugin.power = 'on';
        takeIn(plugin);
      }
    }),
  ),
  names.map((name) =>
    command(
      `quarantine ${name}`,
      (model) => stateOf(of(model, name)) === 'ready' && !isPinned(of(model, name)),
      async (model, { rig }) => {
        await rig.supervisor.quarantine(`plugins/${name}.ts`, 'chaos');
        of(model, name).power = 'quarantined';
      },
    ),
  ),
  names.map((name) =>
    command(
      `roll back ${name}`,
      (model) => canRollBack(of(model, name)),
      async (model, { rig }) => {
        const plugin = of(model, name);
        await rig.supervisor.rollback(`plugins/${name}.ts`);
        plugin.chosen = plugin.built[plugin.built.indexOf(plugin.chosen ?? 0) - 1];
        if (typeof plugin.file === 'number') plugin.pinnedFrom = plugin.chosen === plugin.file ? undefined : plugin.file;
      },
    ),
  ),
  fc.constant(
    command('restart', always, async (_model, world) => {
      await world.rig.stop();
      world.rig = await startRig(shared.get(), { home: world.rig.home, keep: 100 });
    }),
  ),
];

function canRollBack(plugin: Expected): boolean {
  return stateOf(plugin) === 'ready' && plugin.built.indexOf(plugin.chosen ?? 0) > 0;
}

async function readBuilt(rig: Rig, name: string): Promise<number[]> {
  const built: number[] = [];
  for (const { id } of rig.supervisor.generations(`plugins/${name}.ts`).reverse()) {
    const code = String(await rig.supervisor.findGeneration(id)?.runner.program.readCode());
    built.push(Number(/(?:alpha|beta) (\d)/.exec(code)?.[1]));
  }
  return built;
}

describe('the lifecycle', () => {
  it(`agrees with its model over random histories (HOTCELL_CHAOS_SEED=${seed})`, { timeout: 60_000 + runs * 5000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (history) => {
        const world: World = { rig: await startRig(shared.get(), { home: makeFolder(), keep: 100 }) };
        try {
          await fc.asyncModelRun(() => ({ model: { plugins: {} }, real: world }), history);
        } finally {
          await world.rig.stop();
        }
      }),
      { numRuns: runs, seed, endOnFailure: process.env.HOTCELL_CHAOS_SHRINK === undefined },
    );
  });
});
