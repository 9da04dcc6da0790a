const maxComparedChars = 64;

/**
 * The candidates that somebody who wrote `name` may have meant, nearest first, at most `max`. Case is ignored. Near is
 * at most one edit (insert, delete, replace, swap of neighbours) per `charsPerEdit` characters (three), or one name beginning with the other.
 */
export function findNearNames(name: string, candidates: Iterable<string>, max = 3, charsPerEdit = 3): string[] {
  const wanted = name.toLowerCase().slice(0, maxComparedChars);
  const bound = Math.max(1, Math.floor(wanted.length / charsPerEdit));
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const distance = measureDistance(wanted, candidate.toLowerCase().slice(0, maxComparedChars), bound);
    if (distance <= bound) near.push({ candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, max).map((entry) => entry.candidate);
}

/** Ends a sentence about an unknown name: ` Did you mean "weather"?`, or nothing when no candidate is near. */
export function suggestNearNames(name: string, candidates: Iterable<string>): string {
  return askForOneOf(findNearNames(name, candidates));
}

/** Ends a sentence with the names that may have been meant: ` Did you mean "weather"?`, or nothing when there are none. */
export function askForOneOf(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.pop();
  if (last === undefined) return '';
  return quoted.length === 0 ? ` Did you mean ${last}?` : ` Did you mean ${quoted.join(', ')} or ${last}?`;
}

/** Distance up to `bound`; anything farther is Infinity. A beginning of three letters or more counts as `bound`. */
function measureDistance(a: string, b: string, bound: number): number {
  const isBeginning = Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a));
  const isFar = Math.abs(a.length - b.length) > bound || countStrange(a, b) > bound || countStrange(b, a) > bound;
  const edits = isFar ? Number.POSITIVE_INFINITY : countEdits(a, b, bound);
  return isBeginning ? Math.min(edits, bound) : edits;
}

/** Characters of `a` that `b` does not have, of which each costs an edit: most candidates need no more than this look. */
function countStrange(a: string, b: string): number {
  let strange = 0;
  for (let index = 0; index < a.length; index++) if (!b.includes(a.charAt(index))) strange += 1;
  return strange;
}

/** Optimal string alignment (Damerau-Levenshtein without edits inside a swap), three rows, left early when hopeless. */
function countEdits(a: string, b: string, bound: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(beforeLast, column - 2) + 1);
      }
      current.push(best);
    }
    if (Math.min(...current) > bound) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
