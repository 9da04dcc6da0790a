import type { Needle } from './encodings.ts';

/** Something to look for, and what it is called when it is found. */
export interface Pattern extends Needle {
  readonly label: string;
}

/** Where a pattern stands, its neighbours included: `end` is exclusive and may lie behind the last byte. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/** Finds many patterns in one pass. */
export type ByteMatcher = ReturnType<typeof createByteMatcher>;

/**
 * Makes a matcher after Wu and Manber ("A fast algorithm for multi-pattern searching", 1994): two bytes tell how far the
 * search may jump, so that a text without a match costs a look at every seventh byte or so. Patterns have two bytes or more.
 */
export function createByteMatcher(patterns: readonly Pattern[]) {
  const shortest = Math.min(...patterns.map(({ bytes }) => bytes.length));
  const longest = Math.max(...patterns.map(({ bytes }) => bytes.length));
  const jumps = new Uint8Array(65_536).fill(Math.min(shortest - 1, 255));
  const candidates = new Map<number, Pattern[]>();
  const byFirstByte = new Map<number, Pattern[]>();
  for (const pattern of [...patterns].sort((one, other) => other.bytes.length - one.bytes.length)) {
    const { bytes } = pattern;
    for (let end = 1; end < shortest; end++) {
      const block = readBlock(bytes, end);
      jumps[block] = Math.min(jumps[block] ?? 0, shortest - 1 - end);
    }
    push(candidates, readBlock(bytes, shortest - 1), pattern);
    push(byFirstByte, bytes[0] ?? 0, pattern);
  }

  return {
    shortest,
    /** The first match at or after `from`; the longest one of those that begin there. */
    find(bytes: Uint8Array, from: number): Match | undefined {
      for (let end = from + shortest - 1; end < bytes.length; ) {
        const block = readBlock(bytes, end);
        const jump = jumps[block] ?? 0;
        if (jump > 0) {
          end += jump;
          continue;
        }
        const start = end - shortest + 1;
        const found = candidates.get(block)?.find((pattern) => startsWith(bytes, start, pattern.bytes));
        if (found !== undefined) {
          return {
            start: Math.max(from, start - found.before),
            end: start + found.bytes.length + found.after,
            label: found.label,
          };
        }
        end++;
      }
      return undefined;
    },
    /** Where at or after `from` the bytes end in what could be the beginning of a pattern; their length when nowhere. */
    findOpenEnd(bytes: Uint8Array, from: number): number {
      for (let start = Math.max(from, bytes.length - longest - 1); start < bytes.length; start++) {
        const left = bytes.length - start;
        const open = byFirstByte
          .get(bytes[start] ?? 0)
          ?.find((pattern) => left < pattern.bytes.length + pattern.after && beginsIn(bytes, start, pattern.bytes));
        if (open !== undefined) return Math.max(from, start - open.before);
      }
      return bytes.length;
    },
  };
}

function push(map: Map<number, Pattern[]>, key: number, pattern: Pattern): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [pattern]);
  else list.push(pattern);
}

function readBlock(bytes: Uint8Array, end: number): number {
  return ((bytes[end - 1] ?? 0) << 8) | (bytes[end] ?? 0);
}

function startsWith(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  return start + wanted.length <= bytes.length && beginsIn(bytes, start, wanted);
}

/** True when all bytes from `start` on are the first ones of `wanted`, or all of it. */
function beginsIn(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  const length = Math.min(wanted.length, bytes.length - start);
  for (let index = 0; index < length; index++) if (bytes[start + index] !== wanted[index]) return false;
  return true;
}
