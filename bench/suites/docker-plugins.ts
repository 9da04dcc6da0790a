import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/config/schema.ts';
import type { Isolation } from '../../src/engines/engine.ts';
import { createCommandRunner } from '../../src/engines/process/docker/command/command-runner.ts';
import { createDockerEngine } from '../../src/engines/process/docker/engine/docker-engine.ts';
import { createEngineCall } from '../engine-call.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

const KEPT_ROUNDS = 2000;
const PEER_ROUNDS = 12;
const READY_MS = 600;
const MIN_RATIO = 3;
const image = 'hotcell-test/node:2';

if (spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' }).status !== 0) {
  process.stderr.write(`skipped: Docker or its image ${image} is missing; npm test makes it\n`);
  process.stdout.write('[]\n');
  process.exit(0);
}

const handler = "const handler = ({ text }) => ({ words: text.split(' ').length });";
const args = JSON.stringify({ text: 'The quick brown fox jumps over the lazy dog' });
const expected = '{"words":9}';
const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-'));
const settings = { ...defaultSettings.docker, images: [], pluginImage: image };
const commands = createCommandRunner({
  dataDir: folder,
  settings,
  allowedImages: () => [image],
  env: {},
  onFault: (error) => process.stderr.write(`${error}\n`),
});
const engine = createDockerEngine({ dataDir: folder, settings, commands });
const code = `${handler}\nexport default { name: 'words', handler };`;
const runAs = createEngineCall(engine, { label: 'words.ts', code, argumentsJson: args });
const callAs = (isolation: Isolation) => async () => {
  const outcome = await runAs(isolation);
  if (outcome.status !== 'success' || outcome.outputJson !== expected) throw new Error(JSON.stringify(outcome));
};

// The peer: the same handler in a container of its own, started as people do without a daemon.
const script = `${handler} console.log(JSON.stringify(handler(JSON.parse(process.argv[1]))));`;
const runOnce = async () => {
  const output = execFileSync('docker', ['run', '--rm', '--network', 'none', image, 'node', '-e', script, args], {
    encoding: 'utf8',
  });
  if (output.trim() !== expected) throw new Error(output);
};

/** A call in a container of its own, once the one that is made ready after every call is there. */
const timeFresh = async (rounds: number) => {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, READY_MS));
    taken.push(...(await timeRounds(1, callAs('call'))));
  }
  return taken;
};

const samples = { kept: [] as number[], fresh: [] as number[], run: [] as number[] };
await timeRounds(200, callAs('plugin'));
await timeRounds(2, runOnce);
await callAs('call')();
for (let round = 0; round < 3; round++) {
  samples.kept.push(...(await timeRounds(KEPT_ROUNDS / 3, callAs('plugin'))));
  samples.run.push(...(await timeRounds(PEER_ROUNDS / 3, runOnce)));
  samples.fresh.push(...(await timeFresh(PEER_ROUNDS / 3)));
}
await engine.close();
await commands.close();
rmSync(folder, { recursive: true, force: true });

const run = summarise(samples.run);
const peer = { name: 'docker run', p50: run.p50 };
const describeRow = (name: string, figures: { p50: number; p99: number }): Row => ({
  name,
  unit: 'ms',
  ...figures,
  peer,
  ratio: run.p50 / figures.p50,
  ratioOf: 'times faster:',
  target: `>= ${MIN_RATIO}`,
  met: run.p50 / figures.p50 >= MIN_RATIO,
});
const rows: Row[] = [
  describeRow('call of a plugin in a container of its own, made ready before', summarise(samples.fresh)),
  describeRow('call of a plugin in a container that was kept', summarise(samples.kept)),
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
