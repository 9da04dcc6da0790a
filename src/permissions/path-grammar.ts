import { forbiddenSegments, isForbiddenSegment } from './forbidden-segments.ts';

/** A path inside a workspace: its names, from the top down; none for the workspace itself. */
export type PathResult =
  | { readonly ok: true; readonly segments: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const longestPath = 1024;
const deepestPath = 32;
const longestNameBytes = 255;

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
    if (Buffer.byteLength(segment) > longestNameBytes) {
      return { ok: false, reason: `has a name of more than ${longestNameBytes} bytes` };
    }
  }
  return { ok: true, segments };
}

function findFault(path: string): string | undefined {
  if (path === '') return 'is empty; "." is the workspace itself';
  if (path.length > longestPath) return `is longer than ${longestPath} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'holds a control character';
  if (!path.isWellFormed()) return 'is not well-formed text';
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute; write it relative to the workspace';
  if (path.startsWith('~')) return 'starts with "~"; write it relative to the workspace';
  if (path.includes('\\')) return 'holds a backslash; write "/" between names';
  if (/%(?:2e|2f|5c|00)/i.test(path)) return 'holds an encoded dot, slash or NUL';
  return undefined;
}
