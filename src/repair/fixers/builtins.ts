import { findNearNames } from '../../errors/near-names.ts';
import { nodeBuiltinShims, refusedBuiltins } from '../../guests/node-builtins.ts';
import { endOfCall } from './awaits.ts';
import type { Change, FileChange, Fixer, TextFile } from './fixer.ts';
import { blankTexts } from './scan-brackets.ts';
import { applyEdits, edit } from './text-edits.ts';

const importing =
  /^[ \t]*(?:import\s+(?:(?:type\s+)?([\w$*{}\s,]+?)\s+from\s+)?(['"])([^'"\n]{1,100})\2|(?:const|let|var)\s+([\w$]+|\{[\w$\s,:]{1,300}\})\s*=\s*require\(\s*(['"])([^'"\n]{1,100})\5\s*\)(?:\.promises)?)[ \t]*;?[ \t]*\r?\n?/gm;

/** Functions of `fs` and what `context.files` has for them; `args` are written as they stood. */
const filesFor: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  readFile: ([path, encoding]) =>
    encoding === undefined ? `readBytes(${path})` : /utf-?8/i.test(encoding) ? `read(${path})` : undefined,
  writeFile: ([path, content]) => content && `write(${path}, ${content})`,
  appendFile: ([path, content]) => content && `append(${path}, ${content})`,
  exists: ([path]) => `exists(${path})`,
  unlink: ([path]) => `delete(${path})`,
  rm: ([path, options]) => (options === undefined ? `delete(${path})` : `delete(${path}, { recursive: true })`),
  mkdir: ([path]) => `mkdir(${path})`,
};

/** Built-ins of Node that the sandbox does not have: the one that was meant, or what the sandbox has instead. */
export const replaceBuiltins: Fixer = ({ failure, sources }) => {
  if (failure.code !== 'builtin-refused') return [];
  return [...sources].flatMap(([path, text]) =>
    Array.from(text.matchAll(importing)).flatMap((match) => {
      const specifier = match[3] ?? match[6] ?? '';
      const found = { file: { path, text }, match, specifier, names: localNames(match[1] ?? match[4] ?? '') };
      return failure.message.includes(`"${specifier}"`) ? [...useNear(found), ...dropUnused(found), ...useFiles(found)] : [];
    }),
  );
};

interface FoundImport {
  readonly file: TextFile;
  readonly match: RegExpExecArray;
  readonly specifier: string;
  /** What it is called here, by what it is called there; the module itself is `*`. */
  readonly names: ReadonlyMap<string, string>;
}

function localNames(clause: string): Map<string, string> {
  const inner = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  const whole = /^(?:\*\s+as\s+)?([\w$]+)/.exec(clause)?.[1];
  const named = inner.split(',').flatMap((part): [string, string][] => {
    const [there, here] = part.trim().split(/\s+as\s+|\s*:\s*/);
    return there === undefined || there === '' ? [] : [[here ?? there, there]];
  });
  return new Map([...(whole === undefined ? [] : [[whole, '*'] as const]), ...named]);
}

/** A slip in the name of one that the sandbox has. */
function useNear({ file, match, specifier }: FoundImport): FileChange[] {
  const name = specifier.replace(/^node:/, '');
  // Of a built-in that there is, only here not, no other one was meant.
  if (refusedBuiltins.has(name)) return [];
  const near = findNearNames(name, nodeBuiltinShims.keys(), 2);
  const at = match.index + match[0].lastIndexOf(specifier);
  const isCertain =
    near.length === 1 && name.length > 3 && specifier !== name && Math.abs((near[0]?.length ?? 0) - name.length) <= 1;
  return near.map((meant) => ({
    file,
    edits: [edit(at, specifier.length, `node:${meant}`)],
    note: `There is no "${specifier}"; "node:${meant}" is there.`,
    sureness: isCertain ? 'sure' : 'maybe',
  }));
}

/** What is imported and never used was not needed. */
function dropUnused({ file, match, specifier, names }: FoundImport): FileChange[] {
  const { text } = file;
  const rest = text.slice(0, match.index) + text.slice(match.index + match[0].length);
  if (
    names.size === 0 ||
    [...names.keys()].some((name) => new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(rest))
  )
    return [];
  const note = `"${specifier}" was imported and not used.`;
  return [{ file, edits: [edit(match.index, match[0].length, '')], note, sureness: 'sure' }];
}

/** Files of the machine become files of the workspace of the caller, in handlers: what was meant is not certain, and takes a permission. */
function useFiles({ file, match, specifier, names }: FoundImport): FileChange[] {
  if (!/^(?:node:)?fs(?:\/promises)?$/.test(specifier)) return [];
  const without = applyEdits(file.text, [edit(match.index, match[0].length, '')]);
  const handler = findHandler(without);
  if (handler === undefined) return [];
  const blank = blankTexts(without);
  const calls = [...names].flatMap(([here, there]) => {
    const member = there === '*' || there === 'promises' ? '(?:\\.promises)?\\.(\\w+)' : '';
    const pattern = new RegExp(`(?<![\\w$.])(await\\s+)?${here.replaceAll('$', '\\$')}${member}\\s*\\(`, 'g');
    return Array.from(blank.matchAll(pattern), (call) => ({ start: call.index, name: call[2] ?? there }));
  });
  const edits: Change['edits'][number][] = [];
  for (const { start, name } of calls) {
    const end = endOfCall(blank, start);
    const args = end === undefined ? undefined : splitArguments(without, blank, blank.indexOf('(', start) + 1, end - 1);
    const written = args?.[0] === undefined ? undefined : filesFor[name.replace(/Sync$/, '')]?.(args);
    if (end === undefined || written === undefined || start < handler.bodyAt || end > handler.endAt) return [];
    edits.push(edit(start, end - start, `(await ${handler.files}.${written})`));
  }
  if (edits.length === 0) return [];
  const newText = applyEdits(without, [...edits, ...handler.edits]);
  const note = `Files are read and written in the workspace: "${specifier}" is not there.`;
  return [{ file, edits: [edit(0, file.text.length, newText)], note, sureness: 'maybe' }];
}

/** The only handler of a text, how it names the files, and what it lacks for that. */
function findHandler(text: string): { files: string; bodyAt: number; endAt: number; edits: Change['edits'] } | undefined {
  const blank = blankTexts(text);
  const [found, ...others] = Array.from(
    blank.matchAll(/\bhandler\s*:\s*(async\s*)?(?:function\b[^(]*)?\(|(?<=[{,]\s*)(async\s+)?handler\s*\(/g),
  );
  if (found === undefined || others.length > 0) return undefined;
  const open = found.index + found[0].length - 1;
  const close = endOfCall(blank, open);
  if (close === undefined) return undefined;
  const bodyAt = blank.indexOf('{', close);
  const bodyEnd = bodyAt === -1 ? undefined : endOfBlock(blank, bodyAt);
  if (bodyEnd === undefined || !/^\s*(?::[^={]+)?(?:=>)?\s*$/.test(blank.slice(close, bodyAt))) return undefined;
  const asyncAt =
    found[0].startsWith('handler') && found[0].includes(':') ? found.index + found[0].indexOf(':') + 1 : found.index;
  const isAsync = /\basync\b/.test(found[0]);
  const asyncEdits = isAsync ? [] : [edit(asyncAt, 0, found[0].includes(':') ? ' async' : 'async ')];
  const [first, second] = splitArguments(text, blank, open + 1, close - 1);
  const named = /^([\w$]+)/.exec(second ?? '')?.[1];
  if (named !== undefined) return { files: `${named}.files`, bodyAt, endAt: bodyEnd, edits: asyncEdits };
  if (second !== undefined) return undefined;
  const added = first === undefined ? '_args, context' : ', context';
  return { files: 'context.files', bodyAt, endAt: bodyEnd, edits: [...asyncEdits, edit(close - 1, 0, added)] };
}

function endOfBlock(blank: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < blank.length; at++) {
    if (blank[at] === '{') depth++;
    if (blank[at] === '}' && --depth === 0) return at;
  }
  return undefined;
}

/** What stands between two places, parted at the commas of its own level. */
function splitArguments(text: string, blank: string, start: number, end: number): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, start];
  for (let at = start; at <= end; at++) {
    const char = blank[at] ?? '';
    if ('([{<'.includes(char) && at < end) depth++;
    else if (')]}>'.includes(char) && at < end && blank[at - 1] !== '=') depth--;
    else if ((char === ',' && depth === 0) || at === end) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return parts.filter((part) => part !== '');
}
