import {
  type ListedPermission,
  listedPermissions,
  type PermissionKey,
  type PermissionSet,
  permissionKeys,
} from '../config/permission-set.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { describePermissions } from './decision.ts';
import { netEntryCovers, pathMatches } from './matching.ts';
import { type ParsedPermissions, parsePermissions } from './parse.ts';

const maxWords = 200;

/**
 * Reads permissions as people write them in a command: `net=api.example.com read=notes llm=20000 kv kv=shared sharedCell`,
 * one word an entry. The inverse of `describePermissions`, but for its quotes.
 */
export function parsePermissionWords(words: readonly string[]): ParsedPermissions {
  if (words.length > maxWords) return { ok: false, message: `At most ${maxWords} permissions can be named at once.` };
  const block = new Map<PermissionKey, unknown>();
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    const value = rest.join('=');
    const key = permissionKeys.find((candidate) => candidate === name);
    if (key === undefined) {
      const near = suggestNearNames(name, permissionKeys);
      return {
        ok: false,
        message: `"${name.slice(0, 64)}" is not a permission.${near} Write KEY=VALUE, as in net=api.example.com.`,
      };
    }
    block.set(key, addValue(key, block.get(key), value));
    const read = parsePermissions(Object.fromEntries(block));
    // What the parser says speaks of the blocks of manifests and of the config.
    if (!read.ok) return { ...read, message: `"${word.slice(0, 64)}" is not understood. Write ${forms[key]}.` };
  }
  return parsePermissions(Object.fromEntries(block));
}

/** How each is written in a command. */
const forms: Readonly<Record<PermissionKey, string>> = {
  net: 'net=api.example.com, with a port such as net=api.example.com:8443, or net=*.example.com',
  read: 'read=notes: a folder or file of the workspace, or of a mount as in read=docs:/',
  write: 'write=notes: a folder or file of the workspace, or of a mount as in write=docs:/',
  env: 'env=API_KEY',
  run: 'run=ffmpeg: a command without path and arguments',
  tools: 'tools=weather, or tools=weather_*',
  dangerous: 'dangerous=NAME, the tool of the plugin',
  engine: 'engine=deno',
  limits: 'limits=memoryBytes:67108864',
  llm: 'llm, or llm=20000 for so many tokens',
  kv: 'kv, kv=1048576 for so many bytes, or kv=shared',
  sharedCell: 'sharedCell',
};

function addValue(key: PermissionKey, before: unknown, value: string): unknown {
  if (listedPermissions.some((list) => list === key)) return [...(Array.isArray(before) ? before : []), value];
  if (value === '' || value === 'true') return before ?? true;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  if (key !== 'kv') return number ?? value;
  const quota = typeof before === 'object' ? before : {};
  if (value === 'shared') return { ...quota, shared: true };
  return number === undefined ? value : { ...quota, quotaBytes: number };
}

/** The command that grants a set to a plugin. */
export function describeGrantCommand(plugin: string, set: PermissionSet): string {
  const name = /^[\w.@/-]+$/.test(plugin) ? plugin : `'${plugin.replaceAll("'", `'\\''`)}'`;
  return `hotcell grant ${name} ${describePermissions(set)}`.trimEnd();
}

/**
 * What is left of a grant after something was taken back. An entry goes when it allows what was taken back, also when it
 * allows more: nothing that was revoked may stay open through a wider entry.
 */
export function takeBack(granted: PermissionSet, revoked: PermissionSet): PermissionSet {
  let rest: PermissionSet = { ...granted };
  for (const key of listedPermissions) {
    const gone = revoked[key];
    if (gone === undefined || granted[key] === undefined) continue;
    const { [key]: _, ...others } = rest;
    const kept = granted[key].filter((entry) => !gone.some((other) => overlap(key, entry, other)));
    rest = kept.length === 0 ? others : { ...others, [key]: kept };
  }
  for (const key of ['llm', 'kv', 'sharedCell'] as const) {
    if (revoked[key] === undefined) continue;
    const { [key]: _, ...others } = rest;
    rest = others;
  }
  return rest;
}

function overlap(key: ListedPermission, one: string, other: string): boolean {
  if (one === other) return true;
  if (key === 'net') return netEntryCovers(one, other) || netEntryCovers(other, one);
  if (key === 'read' || key === 'write') return pathMatches(one, other) || pathMatches(other, one);
  if (key === 'limits') return one.split(':', 1)[0] === other.split(':', 1)[0];
  return (key === 'tools' || key === 'dangerous') && (one.includes('*') || other.includes('*'));
}
