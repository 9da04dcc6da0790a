import { basename, dirname, relative } from 'node:path';
import { findNearNames } from '../../errors/near-names.ts';
import type { Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Change, FileChange, Fixer, TextFile } from './fixer.ts';
import { edit } from './text-edits.ts';
import { isOneSlip } from './typescript-fixes.ts';

const codes: ReadonlySet<string> = new Set(['import-unresolved', 'import-refused', 'builtin-refused']);
const importing = /(\b(?:from|import)\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]{1,300})\2/g;
/** Packages that bring what the sandbox has by itself, and the global that is meant. */
const globalsOf: Readonly<Record<string, string>> = {
  'node-fetch': 'fetch',
  'cross-fetch': 'fetch',
  'isomorphic-fetch': 'fetch',
  'whatwg-fetch': 'fetch',
  undici: 'fetch',
  'abort-controller': 'AbortController',
  'form-data': 'FormData',
  'formdata-node': 'FormData',
  'whatwg-url': 'URL',
};

/** Imports that lead nowhere: to the file or package that was meant, or to what the sandbox has without one. */
export const mendImports: Fixer = (diagnosis) => {
  const withoutDefault = /^"(.+)" has no default export\./.exec(diagnosis.failure.message)?.[1];
  if (withoutDefault !== undefined) return [...diagnosis.sources].flatMap((source) => importWhole(source, withoutDefault));
  if (!codes.has(diagnosis.failure.code)) return [];
  const { message } = diagnosis.failure;
  return [...diagnosis.sources].flatMap(([path, text]) =>
    Array.from(text.matchAll(importing)).flatMap((match) => {
      const [whole, before = '', , specifier = ''] = match;
      if (!message.includes(`"${specifier}"`)) return [];
      const file = { path, text };
      const end = match.index + whole.length;
      const replace = (newText: string, sureness: Change['sureness']): FileChange => ({
        file,
        edits: [edit(match.index + before.length + 1, specifier.length, newText)],
        note: `"${specifier}" was not found; "${newText}" is there.`,
        sureness,
      });
      if (specifier.startsWith('.') || specifier.startsWith('/')) return findFiles(diagnosis, path, specifier, replace);
      const packages = findPackages(diagnosis, specifier, replace);
      if (packages.length > 0) return packages;
      return specifier === 'uuid' ? useRandomUuid(file, end) : dropGlobal(file, specifier, end);
    }),
  );
};

/** What has no default is imported as a whole; that is the same where nothing but its members is used. */
function importWhole([path, text]: readonly [string, string], specifier: string): FileChange[] {
  return Array.from(text.matchAll(/\bimport\s+([\w$]+)\s+from\s*(['"])([^'"\n]+)\2/g)).flatMap((match) => {
    const [whole, name = '', , from] = match;
    if (from !== specifier) return [];
    const rest = text.slice(0, match.index) + text.slice(match.index + whole.length);
    const uses = Array.from(
      rest.matchAll(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}(?![\\w$])(\\??\\.[\\w$])?`, 'g')),
    );
    const edits = [edit(match.index + whole.indexOf(name, 'import'.length), 0, '* as ')];
    const note = `"${specifier}" has no default export; all of it is imported as ${name}.`;
    return [{ file: { path, text }, edits, note, sureness: uses.every(([, member]) => member !== undefined) ? 'sure' : 'maybe' }];
  });
}

type Replace = (newText: string, sureness: Change['sureness']) => FileChange;

function findFiles({ nearby }: Diagnosis, importer: string, specifier: string, replace: Replace): FileChange[] {
  const wanted = stem(specifier);
  const others = nearby.files.filter((file) => file !== importer);
  const same = others.filter((file) => stem(file) === wanted || (wanted === 'index' && stem(file) === stem(dirname(specifier))));
  const near = same.length > 0 ? same : others.filter((file) => findNearNames(stem(file), [wanted]).length > 0);
  return near.slice(0, 3).map((file) => {
    const path = relative(dirname(importer), file);
    const isCertain = near.length === 1 && (same.length === 1 || isOneSlip(stem(file), wanted));
    return replace(path.startsWith('.') ? path : `./${path}`, isCertain ? 'sure' : 'maybe');
  });
}

function findPackages({ nearby }: Diagnosis, specifier: string, replace: Replace): FileChange[] {
  // The daemon brings its own zod.
  const known = new Set([...nearby.packages, 'zod']);
  const bare =
    /^(?:npm:|jsr:|https?:\/\/(?:esm\.sh|cdn\.skypack\.dev|unpkg\.com|cdn\.jsdelivr\.net\/npm|esm\.run)\/)\/?(.+)$/.exec(
      specifier,
    )?.[1];
  const wanted = (bare ?? specifier).replace(/^((?:@[^/@]+\/)?[^/@]+)@[^/]*/, '$1');
  const name = wanted.split('/', wanted.startsWith('@') ? 2 : 1).join('/');
  const version = bare === undefined ? undefined : /@\D{0,2}(\d+)/.exec(bare.slice(name.length))?.[1];
  // Which version is installed is not known here: a wanted one may be another.
  if (bare !== undefined && known.has(name)) return [replace(wanted, version === undefined ? 'sure' : 'maybe')];
  if (isOneSlip('hotcell', name)) return [replace('hotcell', 'sure')];
  return findNearNames(name, known, 2).map((near) => replace(near + wanted.slice(name.length), 'maybe'));
}

/** Random ids are made by the sandbox itself, in the same form; what else the package has is not. */
function useRandomUuid(file: TextFile, end: number): FileChange[] {
  const { text } = file;
  const start = text.lastIndexOf('import', end);
  const [whole, own = 'v4'] =
    /^import\s+\{\s*v4(?:\s+as\s+([\w$]+))?\s*,?\s*\}\s+from\s*(['"])uuid\2\s*;?/.exec(text.slice(start)) ?? [];
  if (whole === undefined) return [];
  const isPlain = Array.from(
    text
      .slice(start + whole.length)
      .matchAll(new RegExp(`(?<![\\w$])${own.replaceAll('$', '\\$')}(?![\\w$])\\s*(\\(\\s*\\))?`, 'g')),
  ).every(([, call]) => call !== undefined);
  const edits = [edit(start, whole.length, `const ${own} = () => crypto.randomUUID();`)];
  const note = 'Random ids are there without the package "uuid".';
  return [{ file, edits, note, sureness: isPlain ? 'sure' : 'maybe' }];
}

/** The import of what is a global here goes away; another name of it is given to it. */
function dropGlobal(file: TextFile, specifier: string, end: number): FileChange[] {
  const { text } = file;
  const meant = globalsOf[specifier];
  const start = text.lastIndexOf('import', end);
  const names = /^import\s+(?:\* as\s+)?([\w$]+|\{\s*[\w$\s,]+\})\s+from\b/.exec(text.slice(start, end))?.[1];
  if (meant === undefined || names === undefined) return [];
  const imported = names
    .replace(/[{}\s]/g, '')
    .split(',')
    .filter((name) => name !== '');
  const isMeant = imported.every((name) => name === meant || (!names.startsWith('{') && name !== ''));
  if (!isMeant || imported.length !== 1) return [];
  const [own] = imported;
  const rest = /^\s*;?[ \t]*\n?/.exec(text.slice(end))?.[0] ?? '';
  const newText = own === meant ? '' : `const ${own} = ${meant};\n`;
  const note = `"${meant}" is there without the package "${specifier}".`;
  return [{ file, edits: [edit(start, end - start + rest.length, newText)], note, sureness: 'sure' }];
}

function stem(path: string): string {
  return basename(path)
    .replace(/(?:\.d)?\.[a-z]+$/i, '')
    .toLowerCase();
}
