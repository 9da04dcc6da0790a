import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/read/load.ts';
import { startDaemon } from '../../src/main.ts';
import { parsePermissions } from '../../src/permissions/parse.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

const ROUNDS = 60;
const MIN_RATIO = 3;
const image = 'hotcell-test/box:2';

/** The flags that Hotcell sets, as somebody would write them at a prompt. */
const flags = [
  '--rm --network none --cap-drop ALL --security-opt no-new-privileges --pids-limit 100 --cpus 1 --memory 256m --memory-swap 256m',
  '--read-only --ipc none --user 65534:65534 --tmpfs /tmp:rw,noexec,nosuid,nodev,size=64m --tmpfs /workspace:rw,noexec,nosuid,nodev,size=64m',
]
  .join(' ')
  .split(' ');

if (spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' }).status !== 0) {
  process.stderr.write(`docker: no Docker with the image ${image}; node scripts/prepare-tests.ts makes it\n`);
  process.stdout.write('[]\n');
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-docker-'));
mkdirSync(join(folder, 'plugins'));
writeFileSync(
  join(folder, 'plugins/native.ts'),
  "export default { name: 'native', permissions: { run: ['echo'] }, handler: (args, context) => context.run('echo', ['hello']) };",
);
writeFileSync(
  join(folder, 'hotcell.config.json'),
  JSON.stringify({ grantRequested: true, docker: { commands: { echo: image } } }),
);
const config = loadConfig({ flags: {}, env: {}, cwd: folder, parsePermissions });
const daemon = await startDaemon({ config, version: '0.0.0', listen: false, log: createDaemonLog() });

const ours = async (): Promise<void> => {
  const { status } = await daemon.parts.caller.call({ ref: 'native', arguments: {}, caller: { id: 'local', role: 'admin' } });
  if (status !== 'success') throw new Error(`the call ended with ${status}`);
};
const plain = async (): Promise<void> => {
  const child = spawn('docker', ['run', ...flags, image, 'echo', 'hello'], { stdio: 'ignore' });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`docker run ended with ${code}`);
};
/** As between two calls of a person or a model: the next container is made ready meanwhile. */
const spaced = async (): Promise<number[]> => {
  const [sample = 0] = await timeRounds(1, ours);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return [sample];
};

await timeRounds(3, ours);
await timeRounds(3, plain);
const samples = { warm: [] as number[], busy: [] as number[], plain: [] as number[] };
for (let round = 0; round < 3; round++) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (let call = 0; call < ROUNDS / 3; call++) samples.warm.push(...(await spaced()));
  samples.plain.push(...(await timeRounds(ROUNDS / 3, plain)));
  samples.busy.push(...(await timeRounds(ROUNDS / 3, ours)));
}
await daemon.close('the suite is over');
rmSync(folder, { recursive: true, force: true });

const peer = summarise(samples.plain);
const row = (name: string, ms: readonly number[], least: number): Row => {
  const figures = summarise(ms);
  const ratio = peer.p50 / figures.p50;
  return {
    name,
    unit: 'ms',
    ...figures,
    peer: { name: 'docker run', p50: peer.p50 },
    ratio,
    ratioOf: 'faster:',
    target: `>= ${least}x`,
    met: ratio >= least,
  };
};
const rows = [
  row('native command, a container ready: a whole call', samples.warm, MIN_RATIO),
  row('native commands one right after the other', samples.busy, 1),
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
