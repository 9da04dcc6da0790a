import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The images of the tests, made from programs of this machine: no registry is asked. */
const images: Readonly<Record<string, readonly string[]>> = {
  'hotcell-test/box:2': [],
  'hotcell-test/tools:2': ['jq'],
  'hotcell-test/media:1': ['gm'],
  // The system's own: one from a version manager does not lie where its files are looked for.
  'hotcell-test/python:2': ['/usr/bin/python3'],
  'hotcell-test/node:2': [process.execPath],
};
/** Where a program has another name than its package. */
const packages: Readonly<Record<string, string>> = { gm: 'graphicsmagick', '/usr/bin/python3': 'python3' };
const applets = 'sh cat ls sleep yes dd echo env id touch ln mkdir mkfifo nc true false kill ps grep head sort wc'.split(' ');

/** Makes the images that are not there yet. Answers what is missing. */
export function buildTestImages(): string | undefined {
  const busybox = findProgram('busybox');
  if (busybox === undefined || !isStatic(busybox)) return 'A static busybox is needed: apt-get install busybox-static';
  for (const [image, programs] of Object.entries(images)) {
    if (spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' }).status === 0) continue;
    const missing = programs.find((program) => findProgram(program) === undefined);
    if (missing !== undefined)
      return `The image ${image} needs the program ${missing}: apt-get install ${packages[missing] ?? missing}`;
    const root = mkdtempSync(join(tmpdir(), 'hotcell-image-'));
    try {
      addBusybox(root, busybox);
      for (const program of programs) addProgram(root, findProgram(program) ?? program);
      const made = spawnSync('sh', ['-c', `tar -C "${root}" -c . | docker import - ${image}`], { encoding: 'utf8' });
      if (made.status !== 0) return `The image ${image} could not be made: ${made.stderr}`;
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return undefined;
}

function addBusybox(root: string, busybox: string): void {
  for (const folder of ['bin', 'tmp', 'workspace', 'proc', 'dev', 'sys', 'etc']) mkdirSync(join(root, folder));
  cpSync(busybox, join(root, 'bin/busybox'));
  for (const name of applets) symlinkSync('busybox', join(root, 'bin', name));
}

/** A program as `bin/NAME` with the libraries that its loader names, and Python's own files. */
function addProgram(root: string, program: string): void {
  const file = realpathSync(program);
  const name = program.split('/').at(-1) ?? program;
  cpSync(file, join(root, 'bin', name));
  addLibraries(root, file);
  if (name !== 'python3') return;
  const { stdout } = spawnSync(file, ['-c', 'import os; print(os.__file__)'], { encoding: 'utf8' });
  const folder = dirname(stdout.trim());
  const unneeded = /\/(?:test|idlelib|ensurepip|lib2to3|tkinter|dist-packages|site-packages|__pycache__|config-[^/]*)$/;
  cpSync(folder, join(root, folder), { recursive: true, filter: (path) => !unneeded.test(path) });
  // What urllib and sockets load.
  const modules = join(folder, 'lib-dynload');
  if (existsSync(modules)) {
    for (const each of spawnSync('ls', [modules], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((entry) => entry !== '')) {
      addLibraries(root, join(modules, each));
    }
  }
}

function addLibraries(root: string, file: string): void {
  const { stdout = '' } = spawnSync('ldd', [file], { encoding: 'utf8' });
  for (const [, library = ''] of stdout.matchAll(/(\/\S+)\s+\(0x/g)) {
    const target = join(root, library);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(realpathSync(library), target);
  }
}

function findProgram(name: string): string | undefined {
  if (name === process.execPath) return findNode();
  if (name.startsWith('/')) return existsSync(name) ? name : undefined;
  const { stdout, status } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The Node that comes with the checkout, else the one that runs. */
function findNode(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin/node');
  } catch {
    return process.execPath;
  }
}

function isStatic(file: string): boolean {
  return spawnSync('ldd', [file], { stdio: 'ignore' }).status !== 0;
}
