/**
 * JSON with the keys of objects in order, so that equal values have equal texts. Takes what JSON.parse returns; `undefined`
 * members are left out as JSON.stringify does. Throws RangeError on nesting that is too deep for the stack.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).sort(compareKeys)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

function compareKeys(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}
