import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Message } from 'esbuild';
import { findNearNames } from '../../errors/near-names.ts';
import type { PathPolicy } from './path-policy.ts';
import { candidatePaths } from './type-imports.ts';

const maxFolderEntries = 500;
const maxMissingPackages = 100;

/** The files of the plugin, and of packages, that a failed build looked for: when one of them appears, the plugin is worth another try. */
export function findMissingFiles(messages: readonly Message[], rootDir: string, policy: PathPolicy): string[] {
  const targets = new Set<string>();
  const packages = new Set<string>();
  for (const message of messages) {
    const specifier = /^Could not resolve "([^"]*)"/.exec(message.text)?.[1];
    const packageName = specifier && readPackageName(specifier);
    if (packageName) for (const folder of policy.packageDirs) packages.add(join(folder, packageName, 'package.json'));
    if (!specifier?.startsWith('.') || !message.location || message.location.namespace !== '') continue;
    targets.add(resolve(rootDir, dirname(message.location.file), specifier));
  }
  const files = [...targets].flatMap(candidatePaths).filter((path) => policy.ownerOf(path) === 'plugin');
  return [...files, ...[...packages].slice(0, maxMissingPackages)];
}

/** `lodash/fp` is of the package `lodash`, `@scope/name/part` of `@scope/name`; undefined for what is no name of a package. */
function readPackageName(specifier: string): string | undefined {
  return /^(?:@[\w.~-]+\/)?[a-z0-9_~][\w.~-]*/i.exec(specifier)?.[0];
}

/** Up to two files beside the missing one whose names are near, as the importer would write them. */
export function suggestFiles(policy: PathPolicy, specifier: string, importer: string | undefined): string[] {
  if (importer === undefined || policy.ownerOf(importer) !== 'plugin') return [];
  const folder = resolve(dirname(importer), dirname(specifier));
  const names = listFolder(folder).filter(
    (name) => policy.ownerOf(join(folder, name)) === 'plugin' && /\.([cm]?[jt]sx?|json)$/.test(name),
  );
  const near = new Set(findNearNames(stem(specifier), names.map(stem)));
  return names
    .filter((name) => near.has(stem(name)))
    .slice(0, 2)
    .map((name) => `${dirname(specifier) === '.' ? '.' : dirname(specifier)}/${name}`);
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, maxFolderEntries);
  } catch {
    return [];
  }
}

function stem(path: string): string {
  return basename(path)
    .replace(/\.[a-z]+$/i, '')
    .toLowerCase();
}
