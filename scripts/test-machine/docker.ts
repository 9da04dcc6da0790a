import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTestImages } from './docker-images.ts';

const socketPath = '/var/run/docker.sock';
const startDeadlineMs = 60_000;

/** Installs and starts Docker where that can be done, and makes the images of the tests. Answers what is missing. */
export async function prepareDocker(): Promise<string | undefined> {
  if (!(await answers())) {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'Install and start it: apt-get install docker.io';
    if (!hasProgram('dockerd')) install(['docker.io']);
    if (!hasProgram('dockerd')) return 'Install it: apt-get install docker.io';
    const problem = await startDaemon();
    if (problem !== undefined) return problem;
  }
  const wanted = [...(hasProgram('busybox') ? [] : ['busybox-static']), ...(hasProgram('jq') ? [] : ['jq'])];
  if (!hasProgram('/usr/bin/python3')) wanted.push('python3');
  if (!hasProgram('gm')) wanted.push('graphicsmagick');
  if (wanted.length > 0 && process.getuid?.() === 0) install(wanted);
  return buildTestImages();
}

/** Installs packages where that can be done. */
export function install(packages: readonly string[]): void {
  if (!hasProgram('apt-get')) return;
  console.log(`Installing for the tests: ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { stdio: 'ignore', env });
}

/** Containers of the tests have no network: Docker needs neither bridge nor packet filter. It stays for the next run. */
async function startDaemon(): Promise<string | undefined> {
  const folder = join(tmpdir(), 'hotcell-test-machine');
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, 'dockerd.log');
  const log = openSync(logFile, 'a');
  const options = ['--iptables=false', '--ip6tables=false', '--bridge=none'];
  spawn('dockerd', options, { detached: true, stdio: ['ignore', log, log] }).unref();
  const deadline = Date.now() + startDeadlineMs;
  while (Date.now() < deadline) {
    if (existsSync(socketPath) && (await answers())) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return `dockerd did not start; see ${logFile}.`;
}

function answers(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(socketPath);
  socket.once('connect', () => {
    socket.destroy();
    resolve(true);
  });
  socket.once('error', () => resolve(false));
  return promise;
}

function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}
