import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../scripts/bundle.ts';
import { typicalPlugin } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const ROUNDS = 31;
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-cli-'));
// The commands as they are installed: a checkout looks at all of its sources first.
const installed = join(folder, 'node_modules', 'hotcell');
const bin = join(installed, 'bin', 'hotcell.js');
cpSync(join(root, 'bin'), join(installed, 'bin'), { recursive: true });
cpSync(join(root, 'package.json'), join(installed, 'package.json'));
symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
await bundleProgram(join(installed, 'dist', 'program'));
mkdirSync(join(folder, 'plugins'));
writeFileSync(join(folder, 'plugins', 'typical.ts'), typicalPlugin('typical', 'x'));

const commands = {
  'node -e 0': ['-e', '0'],
  'hotcell --version': [bin, '--version'],
  'hotcell --help': [bin, '--help'],
  'hotcell plugin list': [bin, 'plugin', 'list'],
  'hotcell call': [bin, 'call', 'typical', '--json', '{"items":[{"name":"a","value":1}]}'],
} satisfies Record<string, string[]>;

const daemon = spawn(process.execPath, [bin, 'start', '--port', '0', '--json'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
// A daemon whose output nobody reads any more ends, and commands would run without one.
for await (const chunk of daemon.stdout.iterator({ destroyOnReturn: false })) if (String(chunk).includes('listening on')) break;
daemon.stdout.resume();
const samples = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
// In turns, so that whatever else the machine does slows all of them.
for (let round = -2; round < ROUNDS; round++) {
  for (const [name, args] of Object.entries(commands)) {
    const began = performance.now();
    spawnSync(process.execPath, args, { cwd: folder, stdio: 'ignore' });
    if (round >= 0) samples.get(name)?.push(performance.now() - began);
  }
}
daemon.kill('SIGTERM');
await once(daemon, 'exit');
rmSync(folder, { recursive: true, force: true });

const bare = summarise(samples.get('node -e 0') ?? []).p50;
const rows: Row[] = [
  describeRow('hotcell --version', 1.5),
  describeRow('hotcell --help', 2.5),
  describeRow('hotcell plugin list', 2.5),
  describeRow('hotcell call', 2.5),
];
process.stdout.write(`${JSON.stringify(rows)}\n`);

function describeRow(name: keyof typeof commands, aim: number): Row {
  const { p50, p99 } = summarise(samples.get(name) ?? []);
  const ratio = p50 / bare;
  const peer = { name: 'node -e 0', p50: bare };
  return {
    name,
    unit: 'ms',
    p50,
    p99,
    peer,
    ratio,
    ratioOf: 'times as long',
    target: `<= ${aim} x node -e 0`,
    met: ratio <= aim,
  };
}
