import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../src/config/schema.ts';
import { type BenchDaemon, startBenchDaemon } from '../daemon.ts';
import type { Row } from '../measure.ts';
import type { Repair } from './measure-repairs.ts';
import type { openWorkbench } from './workbench.ts';

/**
 * Has the model of `HOTCELL_BENCH_MODEL` (`provider/model`) mend what the fixers left, in a whole daemon, and looks whether it does what
 * it should then. `HOTCELL_BENCH_MODEL_URL` names another base URL; the key is read from the environment as a daemon reads it, with that
 * URL from `HOTCELL_BENCH_MODEL_KEY`. No rows without a model.
 */
export async function measureModel(bench: Awaited<ReturnType<typeof openWorkbench>>, repairs: readonly Repair[]): Promise<Row[]> {
  const model = process.env.HOTCELL_BENCH_MODEL ?? '';
  if (model === '') return [];
  // A wrong output that no example tells of is seen by nobody.
  const left = repairs.filter(
    ({ outcome, plugin, failure }) =>
      outcome !== 'mended' && failure.class !== 'check-failed' && Object.keys(plugin.files).length === 1,
  );
  const { daemon, pluginDir, close } = await startBenchDaemon({}, { config: settingsFor(model) });
  let mended = 0;
  const caller = { id: 'local', role: 'admin' } as const;
  for (const { plugin, failure: seen } of left) {
    const [[file = '', text = ''] = []] = Object.entries(plugin.files);
    const path = join(realpathSync(pluginDir), file);
    writeFileSync(path, text);
    const name = await findPlugin(daemon, (plugin) => plugin !== undefined && plugin.state !== 'loading');
    const begin = () => daemon.parts.repairs.begin(name, true);
    if (seen.class === 'runtime-error' || seen.class === 'limit-reached') {
      for (const { tool, args } of plugin.behaviours) {
        await daemon.parts.caller
          .call({ ref: tool ?? name, arguments: args, caller })
          .catch((error: unknown) => say(plugin.name, error));
      }
    }
    const proposed = await begin()
      .then(({ proposal }) => proposal?.files.find((each) => path.endsWith(each.path))?.after)
      .catch((error: unknown) => say(plugin.name, error));
    rmSync(path);
    await findPlugin(daemon, (plugin) => plugin === undefined);
    if (proposed === undefined) continue;
    const failure = await bench.findFailure(bench.lay({ [file]: proposed }), plugin.behaviours);
    if (failure === undefined) mended++;
    else say(plugin.name, failure);
  }
  await close();
  const part = mended / Math.max(1, left.length);
  const name = `mended by ${model}, of ${left.length} that the fixers left`;
  return [{ name, unit: '%', p50: 100 * part, target: 'as the model can', met: true }];
}

/** The name of the only plugin there is, once it is as it should be. */
async function findPlugin(
  { parts }: BenchDaemon['daemon'],
  isSo: (plugin: { readonly state: string } | undefined) => boolean,
): Promise<string> {
  for (;;) {
    const [plugin] = parts.plugins.list();
    if (isSo(plugin)) return plugin?.name ?? '';
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function settingsFor(model: string): Settings {
  const [provider = '', ...rest] = model.split('/');
  const baseUrl = process.env.HOTCELL_BENCH_MODEL_URL;
  const entry = baseUrl === undefined ? {} : { baseUrl, model: rest.join('/'), key: 'HOTCELL_BENCH_MODEL_KEY' };
  return {
    models: { providers: { [provider]: entry } },
    repair: { model, mode: 'propose', tokensPerDay: 100_000_000, costPerDay: 1000, maxProposals: 10_000, backOffMs: 0 },
  };
}

function say(name: string, why: unknown): undefined {
  const message = typeof why === 'object' && why !== null && 'message' in why ? why.message : why;
  process.stderr.write(`  ${name}: ${String(message).slice(0, 200)}\n`);
}
