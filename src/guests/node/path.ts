/** node:path as on POSIX: the sandbox has no other paths. */
import { wrongType } from './node-error.ts';
import { refuseMember } from './refusals.ts';

/** What `parse` returns and `format` takes. */
export interface ParsedPath {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}

export const sep = '/';
export const delimiter = ':';

/** The sandbox has no working directory of its own: relative paths resolve against the root. */
const WORKING_DIRECTORY = '/';

export function normalize(path: string): string {
  check('path', path);
  if (path === '') return '.';
  const absolute = path.startsWith('/');
  const kept = resolveDots(path, !absolute);
  const slash = path.endsWith('/') && kept !== '' ? '/' : '';
  if (kept === '' && !absolute) return path.endsWith('/') ? './' : '.';
  return `${absolute ? '/' : ''}${kept}${slash}`;
}

export function isAbsolute(path: string): boolean {
  check('path', path);
  return path.startsWith('/');
}

export function join(...paths: string[]): string {
  for (const path of paths) check('path', path);
  const given = paths.filter((path) => path !== '');
  return given.length === 0 ? '.' : normalize(given.join('/'));
}

export function resolve(...paths: string[]): string {
  let resolved = '';
  for (const path of paths.toReversed()) {
    check('path', path);
    if (path === '') continue;
    resolved = resolved === '' ? path : `${path}/${resolved}`;
    if (path.startsWith('/')) break;
  }
  if (!resolved.startsWith('/')) resolved = `${WORKING_DIRECTORY}${resolved}`;
  return `/${resolveDots(resolved, false)}`;
}

export function relative(from: string, to: string): string {
  check('from', from);
  check('to', to);
  const fromParts = resolve(from).split('/').filter(Boolean);
  const toParts = resolve(to).split('/').filter(Boolean);
  let shared = 0;
  while (shared < fromParts.length && shared < toParts.length && fromParts[shared] === toParts[shared]) shared++;
  return [...fromParts.slice(shared).map(() => '..'), ...toParts.slice(shared)].join('/');
}

export function dirname(path: string): string {
  check('path', path);
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed === '') return path === '' ? '.' : '/';
  const slash = trimmed.lastIndexOf('/');
  if (slash < 0) return '.';
  // Only the separator in front of the last part is dropped, unless nothing else remains.
  return slash === 0 ? '/' : slash === 1 && trimmed.startsWith('//') ? '//' : trimmed.slice(0, slash);
}

export function basename(path: string, suffix = ''): string {
  check('path', path);
  check('suffix', suffix);
  if (suffix !== '' && path === suffix) return '';
  const base = lastPart(path);
  return suffix !== '' && suffix !== base && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
}

export function extname(path: string): string {
  check('path', path);
  const base = lastPart(path);
  const dot = base.lastIndexOf('.');
  return dot <= 0 || base === '..' ? '' : base.slice(dot);
}

export function parse(path: string): ParsedPath {
  check('path', path);
  const root = path.startsWith('/') ? '/' : '';
  const base = lastPart(path);
  const ext = extname(path);
  const trimmed = path.replace(/\/+$/, '');
  const slash = trimmed.lastIndexOf('/');
  const dir = base === '' ? root : slash > 0 ? trimmed.slice(0, slash) : root;
  return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
}

export function format(parts: Partial<ParsedPath>): string {
  if (typeof parts !== 'object' || parts === null) throw wrongType('pathObject', 'of type object', parts);
  const dot = parts.ext && !parts.ext.startsWith('.') ? '.' : '';
  const base = parts.base || `${parts.name ?? ''}${dot}${parts.ext ?? ''}`;
  const dir = parts.dir || parts.root;
  if (!dir) return base;
  return dir === parts.root ? `${dir}${base}` : `${dir}/${base}`;
}

export function toNamespacedPath(path: string): string {
  return path;
}

/** Drops `.` and empty parts and takes `..` back; leading `..` stay when `keepAbove`. */
function resolveDots(path: string, keepAbove: boolean): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (keepAbove) kept.push('..');
  }
  return kept.join('/');
}

function lastPart(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function check(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrongType(name, 'of type string', value);
}

export * as posix from './path.ts';

/** Paths of Windows: refused where they are used. */
export const win32 = /* @__PURE__ */ refuseWindows();

function refuseWindows(): Record<string, unknown> {
  const lacking = { name: 'path' };
  const functions = {
    normalize,
    isAbsolute,
    join,
    resolve,
    relative,
    dirname,
    basename,
    extname,
    parse,
    format,
    toNamespacedPath,
  };
  const refused = [...Object.keys(functions), 'matchesGlob'].map((member) => [member, refuseMember(lacking, `win32.${member}`)]);
  return { sep: '\\', delimiter: ';', ...Object.fromEntries(refused) };
}
