import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInputLedger } from '../../plugins/compile/input-ledger.ts';
import { createPathPolicy, type PathPolicy } from '../../plugins/compile/path-policy.ts';
import type { ProposedTexts } from '../../plugins/compile/read-input.ts';
import { candidatePaths } from '../../plugins/compile/type-imports.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import { textFileOf } from '../../plugins/supervisor/entry-text.ts';

const maxFiles = 60;
const maxChars = 2_000_000;
const maxNearbyFiles = 500;
const maxDepth = 4;
const maxPackages = 5000;
const specifier = /(?:\b(?:from|import)\s*\(?|\brequire\s*\()\s*(['"])(\.{1,2}\/[^'"\n]{1,200})\1/g;
const scriptEndings = ['.js', '.mjs', '.cjs', '.jsx', '.json', '/index.js'];

/** What a build of the plugin may read. */
export function policyOf(source: PluginSource, sharedDirs: readonly string[]): PathPolicy {
  const { realEntry: entry, pluginDir, kind, root } = source;
  return createPathPolicy({
    entry,
    ownDir: kind === 'folder' ? pluginDir : undefined,
    rootDir: root.path,
    sharedDirs,
    pluginDir,
  });
}

/**
 * The plugin's own files by real path, the entry first: what it imports by path, as far as the policy lets a build read it. `known`
 * texts count instead of those on the disk.
 */
export function readPluginTexts(source: PluginSource, policy: PathPolicy, known?: ProposedTexts): Map<string, string> {
  const texts = new Map<string, string>();
  const ledger = createInputLedger(known);
  const entry = source.kind === 'wasm' ? sidecarOf(source) : source.realEntry;
  const queue = entry === undefined ? [] : [entry];
  let chars = 0;
  for (let path = queue.shift(); path !== undefined && texts.size < maxFiles; path = queue.shift()) {
    if (texts.has(path)) continue;
    const taken = ledger.read(path, 'plugin');
    if ('failure' in taken) continue;
    chars += taken.text.length;
    if (chars > maxChars && texts.size > 0) break;
    texts.set(path, taken.text);
    const folder = dirname(path);
    if (source.kind === 'wasm') break;
    for (const [, , wanted = ''] of taken.text.matchAll(specifier)) {
      const found = findFile(resolve(folder, wanted), policy);
      if (found !== undefined) queue.push(found);
    }
  }
  return texts;
}

function sidecarOf(source: PluginSource): string | undefined {
  try {
    return textFileOf(source);
  } catch {
    return undefined;
  }
}

function findFile(target: string, policy: PathPolicy): string | undefined {
  const candidates = [...candidatePaths(target), ...scriptEndings.map((ending) => target + ending)];
  for (const candidate of candidates.filter((path) => policy.mayLeadInside(path))) {
    try {
      const real = realpathSync.native(candidate);
      if (policy.ownerOf(real) === 'plugin' && /\.(?:[cm]?[jt]sx?|json)$/.test(real)) return real;
    } catch {
      // Not there: the next name is tried.
    }
  }
  return undefined;
}

/** Files that the plugin could import, and packages by name. */
export function listNearby(source: PluginSource, policy: PathPolicy, sharedDirs: readonly string[]) {
  const files: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of list(folder)) {
      const path = join(folder, entry.name);
      if (files.length >= maxNearbyFiles || !policy.mayLeadInside(path)) continue;
      if (entry.isDirectory() && entry.name !== 'node_modules' && depth < maxDepth) visit(path, depth + 1);
      else if (/\.(?:[cm]?[jt]sx?|json)$/.test(entry.name) && policy.ownerOf(path) === 'plugin') files.push(path);
    }
  };
  for (const folder of new Set([source.pluginDir, source.root.path, ...sharedDirs])) visit(folder, 0);
  const packages = new Set<string>();
  for (const folder of policy.packageDirs) {
    for (const { name } of list(folder)) {
      if (packages.size >= maxPackages || name.startsWith('.')) continue;
      if (!name.startsWith('@')) packages.add(name);
      else for (const inner of list(join(folder, name))) packages.add(`${name}/${inner.name}`);
    }
  }
  return { files: [...new Set(files)], packages: [...packages] };
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
