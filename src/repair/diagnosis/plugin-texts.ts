import { dirname, join, resolve } from 'node:path';
import { entriesOf, realPathOf } from '../../file-system/paths.ts';
import { createInputLedger } from '../../plugins/compile/input-ledger.ts';
import { createPathPolicy, type PathPolicy } from '../../plugins/compile/path-policy.ts';
import type { ProposedTexts } from '../../plugins/compile/read-input.ts';
import { candidatePaths } from '../../plugins/compile/type-imports.ts';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';
import { textFileOf } from '../../plugins/supervisor/entry-text.ts';
import type { InspectRequest, InspectResult } from '../../typescript/check-types.ts';
import type { TypeChecker } from '../../typescript/checker.ts';

const maxFiles = 60;
const maxChars = 2_000_000;
const maxNearbyFiles = 500;
const maxDepth = 4;
const maxPackages = 5000;
const specifier = /(?:\b(?:from|import)\s*\(?|\brequire\s*\()\s*(['"])(\.{1,2}\/[^'"\n]{1,200})\1/g;
const codeEnding = /\.(?:[cm]?[jt]sx?|json)$/;
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

/**
 * Asks the language service about texts of plugins. Undefined when the types are too much for it, or the text is: that is no fault of
 * a plugin. `callerId`: all of a kind are one caller.
 */
export function createInspect(checker: Pick<TypeChecker, 'inspect'>, callerId: string) {
  return async (
    texts: ProposedTexts,
    { signal, ...request }: Omit<InspectRequest, 'files'> & { readonly signal: AbortSignal },
  ): Promise<InspectResult | undefined> => {
    const files = [...texts].map(([name, text]) => ({ name, text }));
    try {
      return await checker.inspect({ ...request, files }, { callerId, signal });
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
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
  return candidates
    .flatMap((path) => (policy.mayLeadInside(path) ? (realPathOf(path) ?? []) : []))
    .find((real) => policy.ownerOf(real) === 'plugin' && codeEnding.test(real));
}

/** Files that the plugin could import, and packages by name. */
export function listNearby(source: PluginSource, policy: PathPolicy, sharedDirs: readonly string[]) {
  const files: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (files.length >= maxNearbyFiles || !policy.mayLeadInside(path)) continue;
      if (entry.isDirectory() && entry.name !== 'node_modules' && depth < maxDepth) visit(path, depth + 1);
      else if (codeEnding.test(entry.name) && policy.ownerOf(path) === 'plugin') files.push(path);
    }
  };
  for (const folder of new Set([source.pluginDir, source.root.path, ...sharedDirs])) visit(folder, 0);
  const packages = new Set<string>();
  for (const folder of policy.packageDirs) {
    for (const { name } of entriesOf(folder)) {
      if (packages.size >= maxPackages || name.startsWith('.')) continue;
      if (!name.startsWith('@')) packages.add(name);
      else for (const inner of entriesOf(join(folder, name))) packages.add(`${name}/${inner.name}`);
    }
  }
  return { files: [...new Set(files)], packages: [...packages] };
}
