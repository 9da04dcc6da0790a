import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './measure.ts';

/** Installs the peers of a checkout's benchmarks where they are missing. */
export function installPeers(root: string): void {
  const folder = join(root, 'bench');
  if (existsSync(join(folder, 'node_modules', 'run'))) return;
  process.stderr.write('installing the peers (npm ci in bench) …\n');
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (done.status !== 0) throw new Error('the peers could not be installed');
}

/** Runs one suite of a checkout in a process of its own. */
export function runSuite(root: string, name: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const suite = join(root, 'bench', 'suites', `${name}.ts`);
    const child = spawn(process.execPath, ['--expose-gc', suite], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(output.trim().split('\n').at(-1) ?? '[]') as Row[]);
      else reject(new Error(`the suite ${name} ended with ${code}`));
    });
  });
}
