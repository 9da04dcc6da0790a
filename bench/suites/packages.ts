import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../src/client/client.ts';
import { createLocalClient } from '../../src/client/local-client.ts';
import { loadConfig } from '../../src/config/read/load.ts';
import { startDaemon } from '../../src/main.ts';
import { grantContracts } from '../../src/operations/contracts/access/grants.ts';
import { pluginContracts } from '../../src/operations/contracts/plugins.ts';
import { toolContracts } from '../../src/operations/contracts/tools.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import type { Row } from '../measure.ts';
import { startPlace } from '../packages/place.ts';

/** How one package fared: `engine` is where it works, `asked` the question that a person answered before. */
interface Trial {
  readonly name: string;
  readonly engine?: string;
  readonly asked?: string;
  readonly failure?: string;
}

const folder = fileURLToPath(new URL('../packages/', import.meta.url));
const only = process.env.PACKAGES?.split(',');

if (!existsSync(`${folder}node_modules`)) {
  process.stderr.write('installing the packages (npm ci in bench/packages) …\n');
  const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (done.status !== 0) throw new Error('the packages could not be installed');
}
const place = await startPlace();
const home = mkdtempSync(join(tmpdir(), 'hotcell-packages-'));
const config = loadConfig({
  flags: { plugins: [`${folder}plugins`], data: join(home, 'data'), port: 0 },
  env: {},
  cwd: home,
  parsePermissions,
});
const daemon = await startDaemon({ config, version: '0.0.0-bench', listen: false, log: createDaemonLog() });
const client = createLocalClient(daemon);
const names = readdirSync(`${folder}plugins`).map((file) => file.replace(/\.js$/, ''));
const trials: Trial[] = [];
for (const name of names) {
  if (only && !only.includes(name)) continue;
  const trial = await tryPackage(client, name);
  trials.push(trial);
  process.stderr.write(`  ${describe(trial)}\n`);
}
await daemon.close('benchmark ended');
place.close();
rmSync(home, { recursive: true, force: true });

const works = trials.filter(({ engine }) => engine !== undefined);
const inSandbox = works.filter(({ engine }) => engine === 'quickjs');
const row = (name: string, count: number, target: number): Row => ({
  name: `${name} (of ${trials.length})`,
  unit: 'packages',
  p50: count,
  target: `>= ${target}`,
  met: count >= target,
});
const rows = [
  row('common npm packages that work', works.length, Math.ceil(trials.length * 0.9)),
  row('of these in the sandbox, with no question', inSandbox.length, Math.ceil(trials.length * 0.8)),
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** Calls the example of a plugin; allows what it asks for, and the engine that is proposed, once. */
async function tryPackage(client: Client, name: string): Promise<Trial> {
  let asked: string | undefined;
  for (let round = 0; round < 4; round++) {
    const { permissions } = await client.invoke(pluginContracts.get, { name });
    const engine = permissions.pending.engine?.[0];
    if (engine !== undefined) asked = engine;
    if (Object.keys(permissions.pending).length > 0)
      await client.invoke(grantContracts.create, { plugin: name, requested: true });
    const { engine: runsIn, diagnostic, state } = await client.invoke(pluginContracts.get, { name });
    // On a busy machine a build may not be done in time.
    if (diagnostic?.message.includes('took longer')) await client.invoke(pluginContracts.reload, { name });
    const failure = diagnostic ? `${diagnostic.code}: ${diagnostic.message} [${diagnostic.fix}]` : await callExample(name);
    if (failure === undefined) return { name, engine: runsIn, ...(asked ? { asked } : {}) };
    const { permissions: now } = await client.invoke(pluginContracts.get, { name });
    if (Object.keys(now.pending).length === 0) return { name, failure: `(${runsIn}, ${state}) ${failure}` };
  }
  return { name, failure: 'asks again and again' };
}

async function callExample(name: string): Promise<string | undefined> {
  const tool = await client.invoke(toolContracts.get, { ref: name });
  const [example] = tool.examples;
  const { status, output, error } = await client.invoke(toolContracts.call, {
    ref: name,
    arguments: { ...(JSON.stringify(tool.input).includes('"base"') ? { base: place.base } : {}) },
  });
  if (status !== 'success')
    return `${error?.code}: ${error?.name ?? ''} ${error?.message} ${JSON.stringify(error?.frames?.slice(0, 3))} [${error?.fix}]`;
  return isDeepStrictEqual(output, example?.expect)
    ? undefined
    : `gave ${JSON.stringify(output)}, expected ${JSON.stringify(example?.expect)}`;
}

function describe({ name, engine, asked, failure }: Trial): string {
  if (failure !== undefined) return `✗ ${name.padEnd(20)} ${failure.slice(0, 700)}`;
  return `✓ ${name.padEnd(20)} ${asked === undefined ? `works in ${engine}` : `works after one question: engine=${asked}`}`;
}
