import { relative } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { PluginSource } from '../plugins/discovery/plugin-source.ts';

/** Longer differences are cut. */
export const maxDiffChars = 64 * 1024;
/** A comparison of texts that have nothing in common ends here. */
const diffTimeoutMs = 1000;

/** The difference between files as they are and as they are proposed, as `diff -u` writes it; bounded. */
export function describeChange(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  source: Pick<PluginSource, 'root'>,
): string {
  const parts = [...after].flatMap(([path, text]) => {
    const old = before.get(path) ?? '';
    if (old === text) return [];
    const shown = relative(source.root.path, path);
    const patch = createTwoFilesPatch(`a/${shown}`, `b/${shown}`, old, text, '', '', { context: 3, timeout: diffTimeoutMs });
    return patch === undefined ? `${shown} is another text altogether.\n` : patch.replace(/^=+\n/, '');
  });
  const whole = parts.join('');
  return whole.length <= maxDiffChars ? whole : `${whole.slice(0, maxDiffChars)}\n… cut\n`;
}
