#!/usr/bin/env node
// Plain JavaScript on purpose: it must also run on an older Node, which it replaces by the one that Hotcell brings.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const neededMajor = 24;
const packageDir = join(dirname(fileURLToPath(import.meta.url)), '..');

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  await run();
} else {
  const newer = process.env.HOTCELL_REEXECUTED === '1' ? undefined : findBundledNode();
  if (newer === undefined) refuse();
  else execute(newer);
}

async function run() {
  if (typeof nodeModule.enableCompileCache === 'function') nodeModule.enableCompileCache();
  // The published package has JavaScript only; a checkout runs its TypeScript as it is.
  const isBuilt = !existsSync(join(packageDir, 'src')) && existsSync(join(packageDir, 'dist'));
  if (isBuilt) {
    const { runProcess } = await import('../dist/cli/main.js');
    await runProcess(() => import('../dist/main.js'));
  } else {
    const { runProcess } = await import('../src/cli/main.ts');
    await runProcess(() => import('../src/main.ts'));
  }
}

/** The npm package "node" puts a Node into its own folder. */
function findBundledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const file = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    const version = JSON.parse(readFileSync(manifest, 'utf8')).version;
    return existsSync(file) && Number.parseInt(version, 10) >= neededMajor ? file : undefined;
  } catch {
    return undefined;
  }
}

function execute(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, HOTCELL_REEXECUTED: '1' },
  });
  // A terminal sends its signals to both; others are passed on, and the child decides what they mean.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
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
