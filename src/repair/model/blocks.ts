import { relative } from 'node:path';
import type { PluginSource } from '../../plugins/discovery/plugin-source.ts';

/** The files of a plugin, by real path. */
interface PluginTexts {
  readonly plugin: { readonly source: PluginSource };
  readonly sources: ReadonlyMap<string, string>;
}

/** A change as a model wrote it: a text that takes the place of another, or of the whole file. */
interface Block {
  readonly file: string;
  readonly search: string | undefined;
  readonly text: string;
}

/** Texts of files by name, or what is wrong with the answer, in a sentence that the model can learn from. */
export type AppliedBlocks =
  | { readonly ok: true; readonly texts: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problem: string };

const maxBlocks = 50;
const maxChars = 512 * 1024;

/** How changes are written, for the prompt. */
export const blockRules = `Write every change as a block; the markers stand alone at the beginning of a line:

<<<<<<< SEARCH file.ts
lines as they are, exactly, and only once in the file
=======
lines that take their place
>>>>>>> REPLACE

or, for a whole file:

<<<<<<< WHOLE file.ts
the whole new text
>>>>>>> END

Name only files that were shown. Change as little as possible.`;

/** Reads the blocks of an answer and applies them, one after the other, to a copy of the files. What is malformed changes nothing. */
export function applyBlocks(answer: string, files: ReadonlyMap<string, string>): AppliedBlocks {
  const read = readBlocks(answer);
  if (typeof read === 'string') return { ok: false, problem: read };
  const texts = new Map(files);
  for (const { file, search, text } of read) {
    const kept = texts.get(file);
    if (kept === undefined) return wrong(`There is no file "${file.slice(0, 100)}"; there are: ${[...files.keys()].join(', ')}.`);
    const { now, close } = openLines(kept);
    if (search === undefined) {
      texts.set(file, close(text));
      continue;
    }
    const places = now.split(search).length - 1;
    if (search.trim() === '') return wrong(`A SEARCH block for ${file} is empty: copy the lines that are to be replaced.`);
    if (places === 0)
      return wrong(`The SEARCH lines are not in ${file} as they were written: copy them exactly.\n${search.slice(0, 400)}`);
    if (places > 1)
      return wrong(`The SEARCH lines are ${places} times in ${file}: add lines around them until they are there once.`);
    const changed = now.replace(search, () => text);
    texts.set(file, close(kept.endsWith('\n') ? changed : changed.replace(/\n$/, '')));
  }
  const changed = new Map([...texts].filter(([file, text]) => files.get(file) !== text));
  return changed.size === 0 ? wrong('The blocks change nothing.') : { ok: true, texts: changed };
}

/** The files of a plugin as a model names them, by their real paths. */
export function nameFiles({ plugin, sources }: PluginTexts): ReadonlyMap<string, string> {
  return new Map([...sources.keys()].map((path) => [path, relative(plugin.source.root.path, path)]));
}

/** Applies the blocks of an answer to the files of a plugin; `files` are those that change, by real path. */
export function applyToSources(
  answer: string,
  of: PluginTexts,
): { readonly ok: true; readonly files: ReadonlyMap<string, string> } | Extract<AppliedBlocks, { ok: false }> {
  const names = [...nameFiles(of)];
  const applied = applyBlocks(answer, new Map(names.map(([path, name]) => [name, of.sources.get(path) ?? ''])));
  if (!applied.ok) return applied;
  const changed = names.flatMap(([path, name]): [string, string][] => {
    const text = applied.texts.get(name);
    return text === undefined ? [] : [[path, text]];
  });
  return { ok: true, files: new Map(changed) };
}

/** A text whose lines all end as those of a model do, and the way back to how they ended. */
function openLines(kept: string): { readonly now: string; readonly close: (text: string) => string } {
  const isOfWindows = kept.includes('\r\n') && !/(?<!\r)\n/.test(kept);
  const text = isOfWindows ? kept.replaceAll('\r\n', '\n') : kept;
  return {
    now: text.endsWith('\n') ? text : `${text}\n`,
    close: (changed) => (isOfWindows ? changed.replaceAll('\n', '\r\n') : changed),
  };
}

function readBlocks(answer: string): readonly Block[] | string {
  if (answer.length > maxChars) return `The answer has ${answer.length} characters; at most ${maxChars} are read.`;
  const blocks: Block[] = [];
  let open:
    | { readonly file: string; readonly isWhole: boolean; readonly search: string[]; readonly text: string[]; isAfter: boolean }
    | undefined;
  for (const line of answer.replaceAll('\r\n', '\n').split('\n')) {
    const [, kind, file = ''] = /^<{7} (SEARCH|WHOLE) (\S.*)$/.exec(line) ?? [];
    if (kind !== undefined) {
      if (open !== undefined) return `A block of ${file} begins before the one of ${open.file} has ended.`;
      open = { file: file.trim(), isWhole: kind === 'WHOLE', search: [], text: [], isAfter: kind === 'WHOLE' };
    } else if (open === undefined) {
      if (/^(?:<{7}|>{7})/.test(line)) return `The line "${line.slice(0, 80)}" is no marker of a block.`;
    } else if (line === '=======' && !open.isWhole && !open.isAfter) open.isAfter = true;
    else if (line === (open.isWhole ? '>>>>>>> END' : '>>>>>>> REPLACE')) {
      if (!open.isAfter) return `The block of ${open.file} has no line =======.`;
      blocks.push(closeBlock(open));
      open = undefined;
    } else if (/^(?:<{7}|>{7})( |$)/.test(line))
      return `The line "${line.slice(0, 80)}" stands inside of a block of ${open.file}.`;
    else (open.isAfter ? open.text : open.search).push(line);
    if (blocks.length > maxBlocks) return `There are more than ${maxBlocks} blocks; write the whole file instead.`;
  }
  if (open !== undefined) return `The block of ${open.file} has no end.`;
  return blocks.length === 0 ? 'There is no block in the answer.' : blocks;
}

function closeBlock({
  file,
  isWhole,
  search,
  text,
}: {
  file: string;
  isWhole: boolean;
  search: string[];
  text: string[];
}): Block {
  // Whole lines are replaced, their ends with them.
  const lines = (list: string[]) => list.map((line) => `${line}\n`).join('');
  return { file, search: isWhole ? undefined : lines(search), text: lines(text) };
}

function wrong(problem: string): AppliedBlocks {
  return { ok: false, problem };
}
