import { dirname, resolve } from 'node:path';
import { realPathOf } from '../../file-system/paths.ts';
import type { InputLedger } from './input-ledger.ts';
import type { PathPolicy } from './path-policy.ts';

const maxFiles = 40;
const relativeSpecifier = /\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]{1,200})\1/g;
const typeEndings = ['.ts', '.mts', '.cts', '.tsx', '.d.ts', '/index.ts', '/index.d.ts', ''];

/**
 * Reads the relative imports that lend only types: the bundler drops them, but the input schema needs them, and a
 * change in them is a change of the plugin. What the policy does not let through is left out.
 */
export function readTypeImports(ledger: InputLedger, policy: PathPolicy): void {
  const queue = ledger.ownFiles();
  let added = 0;
  for (let file = queue.shift(); file !== undefined && added < maxFiles; file = queue.shift()) {
    if (!/\.[cm]?tsx?$/.test(file.path)) continue;
    for (const match of file.text.matchAll(relativeSpecifier)) {
      const target = resolve(dirname(file.path), match[2] ?? '');
      const path = findTypeFile(target, ledger, policy);
      if (path === undefined || ledger.textOf(path) !== undefined) continue;
      const taken = ledger.read(path, 'plugin');
      if ('failure' in taken) continue;
      added += 1;
      queue.push({ path, text: taken.text });
    }
  }
}

/** The paths that a relative specifier may mean, best first; `./x.js` may mean `./x.ts`. */
export function candidatePaths(target: string): string[] {
  const asTypeScript = target.replace(/\.([cm]?)js$/, '.$1ts');
  return [...(asTypeScript === target ? [] : [asTypeScript]), ...typeEndings.map((ending) => target + ending)];
}

function findTypeFile(target: string, ledger: InputLedger, policy: PathPolicy): string | undefined {
  const candidates = candidatePaths(target).filter((path) => /\.[cm]?tsx?$/.test(path) && policy.mayLeadInside(path));
  const known = candidates.find((path) => ledger.textOf(path) !== undefined);
  if (known !== undefined) return known;
  for (const candidate of candidates) {
    const realPath = realPathOf(candidate);
    if (realPath !== undefined) return policy.ownerOf(realPath) === 'plugin' ? realPath : undefined;
  }
  return undefined;
}
