import { relative } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { PluginSource } from '../plugins/discovery/plugin-source.ts';

/** Longer differences are cut where they are kept for people. */
export const maxDiffChars = 64 * 1024;
/** A comparison of texts that have nothing in common ends here. */
const compareMs = 1000;

/** The difference between two sets of texts as `diff -u` writes it; files are named as `nameOf` shows them. */
export function describeDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  nameOf: (path: string) => string,
  maxChars = maxDiffChars,
): string {
  const parts = [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [from = '', to = ''] = [before.get(path), after.get(path)];
    if (from === to) return [];
    const name = nameOf(path);
    const patch = createTwoFilesPatch(`a/${name}`, `b/${name}`, from, to, '', '', { context: 3, timeout: compareMs });
    return patch === undefined ? `${name}: too much differs to be shown.\n` : patch.replace(/^=+\n/, '');
  });
  return cutText(parts.join(''), maxChars);
}

/** The difference that changed files make to the texts of a plugin. */
export function describeChange(
  { root }: Pick<PluginSource, 'root'>,
  sources: ReadonlyMap<string, string>,
  changed: ReadonlyMap<string, string>,
): string {
  return describeDifference(sources, new Map([...sources, ...changed]), (path) => relative(root.path, path));
}

/** A text that may be too long, with how much of it is left out. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}\n… ${text.length - maxChars} characters more`;
}
