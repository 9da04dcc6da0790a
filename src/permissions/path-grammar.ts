import { forbiddenSegments, isForbiddenSegment } from './forbidden-segments.ts';

/** A path inside a workspace: its names, from the top down; none for the workspace itself. */
export type PathResult =
  | { readonly ok: true; readonly segments: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** A path as grants and guests write it: in the workspace, or in a mount by its name: `docs:/sub`. */
export type PlaceResult =
  | {
      readonly ok: true;
      /** Absent for the workspace. */
      readonly mount?: string;
      readonly segments: readonly string[];
      /** The one spelling: `.`, `data/x`, `docs:/`, `docs:/sub`. */
      readonly path: string;
    }
  | { readonly ok: false; readonly reason: string };

const maxPathChars = 1024;
// Two characters at least: one is the letter of a drive.
const mounted = /^([a-z][a-z0-9-]{1,31}):(?:\/|$)/;
const deepestPath = 32;
const maxNameBytes = 255;

/** True for what can be the name of a mount. */
export function isMountName(name: string): boolean {
  return mounted.test(`${name}:/`);
}

/** The mount in which a path in its one spelling lies; undefined for the workspace. */
export function mountOf(path: string): string | undefined {
  return mounted.exec(path)?.[1];
}

/** Reads a path in the workspace or in a mount. The reason of a refusal ends a sentence about the path. */
export function parsePlace(text: string): PlaceResult {
  const mount = mountOf(text);
  const parsed = parseRelativePath(mount === undefined ? text : text.slice(mount.length + 2) || '.');
  if (!parsed.ok) return parsed;
  const { segments } = parsed;
  if (mount !== undefined) return { ok: true, mount, segments, path: `${mount}:/${segments.join('/')}` };
  // Such a path would read as a mount in its one spelling.
  if (segments[0]?.endsWith(':'))
    return { ok: false, reason: 'begins with a name that ends in ":"; write a mount as name:/path' };
  return { ok: true, segments, path: segments.join('/') || '.' };
}

/**
 * Reads a relative path with `/` between names; `.` names and doubled slashes fall away. The reason of a refusal ends a
 * sentence about the path. Nothing is decoded: what only a decoder would see as dots or slashes is refused.
 */
export function parseRelativePath(path: string): PathResult {
  const reason = findFault(path);
  if (reason !== undefined) return { ok: false, reason };
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.length > deepestPath) return { ok: false, reason: `is deeper than ${deepestPath} folders` };
  for (const segment of segments) {
    if (segment === '..') return { ok: false, reason: 'leads upward with ".."' };
    if (isForbiddenSegment(segment)) {
      return { ok: false, reason: `holds a forbidden name (${forbiddenSegments.join(' ')})` };
    }
    if (Buffer.byteLength(segment) > maxNameBytes) {
      return { ok: false, reason: `has a name of more than ${maxNameBytes} bytes` };
    }
  }
  return { ok: true, segments };
}

function findFault(path: string): string | undefined {
  if (path === '') return 'is empty; "." is the workspace itself';
  if (path.length > maxPathChars) return `is longer than ${maxPathChars} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'holds a control character';
  if (!path.isWellFormed()) return 'is not well-formed text';
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute; write it relative to the workspace';
  if (path.startsWith('~')) return 'starts with "~"; write it relative to the workspace';
  if (path.includes('\\')) return 'holds a backslash; write "/" between names';
  if (/%(?:2e|2f|5c|00)/i.test(path)) return 'holds an encoded dot, slash or NUL';
  return undefined;
}
