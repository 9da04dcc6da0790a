import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Message } from 'esbuild';
import { findNearNames } from '../../errors/near-names.ts';
import { entriesOf, realPathOf } from '../../file-system/paths.ts';
import type { BuildInput } from '../generations/generation.ts';
import type { PathPolicy } from './path-policy.ts';
import { readInput } from './read-input.ts';
import { candidatePaths } from './type-imports.ts';

const maxFolderEntries = 500;
const maxMissingPackages = 100;

/** What a failed build looked for. */
export interface MissingImports {
  /** Files of the plugin, and of packages, that are not there: when one of them appears, the plugin is worth another try. */
  readonly missing: readonly string[];
  /** The package files of packages that are there, but lack what is imported: when one changes, it is, too. */
  readonly packageFiles: readonly BuildInput[];
}

/** Finds what a failed build looked for, as the messages of the bundler tell. */
export function findMissingImports(messages: readonly Message[], rootDir: string, policy: PathPolicy): MissingImports {
  const targets = new Set<string>();
  const packages = new Set<string>();
  const parts = new Set<string>();
  for (const message of messages) {
    const specifier = /^Could not resolve "([^"]*)"/.exec(message.text)?.[1];
    const name = specifier && readPackageName(specifier);
    for (const folder of name ? policy.packageDirs : []) {
      packages.add(join(folder, String(name), 'package.json'));
      for (const file of findParts(message, String(specifier))) parts.add(join(folder, file));
    }
    if (!specifier?.startsWith('.') || !message.location || message.location.namespace !== '') continue;
    targets.add(resolve(rootDir, dirname(message.location.file), specifier));
  }
  const files = [...targets].flatMap(candidatePaths).filter((path) => policy.ownerOf(path) === 'plugin');
  const packageFiles = [...packages].slice(0, maxMissingPackages).flatMap((path) => readPackageFile(path, policy) ?? []);
  const installed = packageFiles.map(({ path }) => dirname(path) + sep);
  const ofPackages = [...parts]
    .filter((path) => installed.some((folder) => path.startsWith(folder)))
    .flatMap((path) => [...candidatePaths(path), `${path}.js`, join(path, 'index.js')]);
  const absent = [...packages, ...ofPackages].filter((path) => !existsSync(path));
  return { missing: [...files, ...absent.slice(0, maxMissingPackages)], packageFiles };
}

/** Whether a package lies in a folder of packages that a plugin may use. */
export function isInstalled(name: string, policy: PathPolicy): boolean {
  return policy.packageDirs.some((folder) => readPackageFile(join(folder, name, 'package.json'), policy) !== undefined);
}

/** The files of a package that an import may mean, below the folder of packages. */
function findParts({ notes }: Message, specifier: string): string[] {
  const name = readPackageName(specifier) ?? specifier;
  const targets = notes.flatMap(({ text }) => /^The module "(\.\/[^"]+)" was not found/.exec(text)?.[1] ?? []);
  return [specifier === name ? join(name, 'index') : specifier, ...targets.map((target) => join(name, target))];
}

function readPackageFile(path: string, policy: PathPolicy): BuildInput | undefined {
  const realPath = realPathOf(path);
  const read = realPath !== undefined && policy.ownerOf(realPath) === 'package' ? readInput(realPath) : undefined;
  return typeof read === 'object' ? read.input : undefined;
}

/** `lodash/fp` is of the package `lodash`, `@scope/name/part` of `@scope/name`; undefined for what is no name of a package. */
function readPackageName(specifier: string): string | undefined {
  return /^(?:@[\w.~-]+\/)?[a-z0-9_~][\w.~-]*/i.exec(specifier)?.[0];
}

/** Up to two files beside the missing one whose names are near, as the importer would write them. */
export function suggestFiles(policy: PathPolicy, specifier: string, importer: string | undefined): string[] {
  if (importer === undefined || policy.ownerOf(importer) !== 'plugin') return [];
  const folder = resolve(dirname(importer), dirname(specifier));
  const entries = entriesOf(folder).slice(0, maxFolderEntries);
  const names = entries
    .map(({ name }) => name)
    .filter((name) => policy.ownerOf(join(folder, name)) === 'plugin' && /\.([cm]?[jt]sx?|json)$/.test(name));
  const near = new Set(findNearNames(stem(specifier), names.map(stem)));
  return names
    .filter((name) => near.has(stem(name)))
    .slice(0, 2)
    .map((name) => `${dirname(specifier) === '.' ? '.' : dirname(specifier)}/${name}`);
}

function stem(path: string): string {
  return basename(path)
    .replace(/\.[a-z]+$/i, '')
    .toLowerCase();
}
