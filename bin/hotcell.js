#!/usr/bin/env node
// Plain JavaScript on purpose: it must also run on an older Node, which it replaces by the one that Hotcell brings.
// CommonJS, too: the module system of an import is set up for longer than a short command runs.
const { existsSync, readFileSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const neededMajor = 24;
const packageDir = join(__dirname, '..');
const words = process.argv.slice(2);

if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  process.stdout.write(`${JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')).version}\n`);
} else if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  void run();
} else {
  const newer = process.env.HOTCELL_REEXECUTED === '1' ? undefined : findBundledNode();
  if (newer === undefined) refuse();
  else execute(newer);
}

async function run() {
  endWithLauncher();
  enableCompileCache();
  // The published package has JavaScript only; a checkout bundles its TypeScript, or runs it as it is.
  const program = existsSync(join(packageDir, 'src'))
    ? await require('./checkout.js').findProgram()
    : join(packageDir, 'dist', 'program', 'client.cjs');
  const { runProcess, loadDaemon } =
    program === undefined
      ? { ...(await import('../src/cli/main.ts')), loadDaemon: () => import('../src/main.ts') }
      : require(program);
  await runProcess(loadDaemon);
}

/** An older Node that was killed outright cannot pass a signal on: its end is seen by the channel that closes with it. */
function endWithLauncher() {
  if (process.env.HOTCELL_REEXECUTED !== '1' || process.channel === undefined) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

/** The npm package "node" puts a Node into its own folder. */
function findBundledNode() {
  try {
    const manifest = require.resolve('node/package.json');
    const newer = join(manifest, '..', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    const version = JSON.parse(readFileSync(manifest, 'utf8')).version;
    return existsSync(newer) && Number.parseInt(version, 10) >= neededMajor ? newer : undefined;
  } catch {
    return undefined;
  }
}

function execute(node) {
  const { spawn } = require('node:child_process');
  const child = spawn(node, [__filename, ...words], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, HOTCELL_REEXECUTED: '1' },
  });
  // A terminal sends its signals to both; others are passed on, and the child decides what they mean.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  const { constants } = require('node:os');
  child.on('error', refuse);
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? 128 + (constants.signals[signal] || 0) : code;
  });
}

function refuse() {
  process.stderr.write(
    `hotcell needs Node ${neededMajor} or newer, but this is Node ${process.versions.node}: install it from https://nodejs.org, or add the npm package "node" beside hotcell.\n`,
  );
  process.exitCode = 1;
}
