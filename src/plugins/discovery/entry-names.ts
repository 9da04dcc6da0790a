import { hash } from 'node:crypto';

/** File names, in order of preference, that make a folder a plugin. */
export const folderEntryNames = [
  'index.ts',
  'index.mts',
  'index.tsx',
  'index.js',
  'index.mjs',
  'index.cjs',
  'index.jsx',
] as const;

/** Names under which the manifest of `NAME.wasm` may lie beside it. */
export const sidecarExtensions = ['.json', '.yaml', '.yml'] as const;

/** What the name of something in a plugin folder says about it, before anybody looks at the disk. */
export type NameKind = 'code' | 'wasm' | 'folder' | 'ignored';

/** What editors and file tools leave behind for a moment. */
const leftovers = [
  /^\./,
  /~$/,
  /^#.*#$/,
  /^4913$/,
  /^sed\w{6}$/,
  /\.(?:swp|swx|swo|tmp|orig|bak|rej)$/,
  /___jb_(?:old|tmp|bak)___$/,
];

const codeEnding = /\.(?:ts|mts|cts|tsx|js|mjs|cjs|jsx)$/;

const ignoredNames = [...leftovers, /^_/, /^(?:node_modules|dist)$/, /\.d\.[mc]?ts$/, /\.(?:test|spec)\.[mc]?[jt]sx?$/];

/**
 * Says what a name stands for. Ignored are dotfiles, what editors leave behind, declarations, tests, `node_modules`,
 * and names with a leading underscore, which are helpers of the plugins beside them.
 */
export function classifyName(name: string): NameKind {
  if (ignoredNames.some((pattern) => pattern.test(name))) return 'ignored';
  if (codeEnding.test(name)) return 'code';
  if (name.endsWith('.wasm')) return 'wasm';
  return 'folder';
}

/** True for names that are neither a plugin nor anything that one could import. */
export function isLeftoverName(name: string): boolean {
  return leftovers.some((pattern) => pattern.test(name));
}

/** The name that a plugin has when it says none: that of its file or folder. */
export function nameFromFile(fileName: string): string {
  // Letters with marks become the letters: größe is grosse, café is cafe.
  const plain = fileName
    .replace(codeEnding, '')
    .replace(/\.wasm$/, '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replaceAll('ß', 'ss');
  const bare = plain.replace(/[^a-zA-Z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  // Of a name in another script nothing is left: a few digits of its hash keep two such files apart.
  return bare.slice(0, 64) || `plugin-${hash('sha256', fileName.normalize('NFC')).slice(0, 6)}`;
}

/** What to tell of a plugin whose tools are not called as its file is, since the names of tools are ASCII; else undefined. */
export function explainName(fileName: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII.
  if (/^[\x00-\x7f]*$/.test(fileName)) return undefined;
  return `Names of tools have ASCII letters only, so "${fileName}" is called "${nameFromFile(fileName)}". To choose another, say name: '…' in it.`;
}
