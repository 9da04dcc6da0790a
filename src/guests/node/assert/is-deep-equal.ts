/** Deep equality as node:assert and node:util have it; `loose` compares primitives with `==` and ignores prototypes. */
export function isDeepEqual(left: unknown, right: unknown, loose = false): boolean {
  return compare(left, right, loose, []);
}

function compare(left: unknown, right: unknown, loose: boolean, seen: readonly (readonly [object, object])[]): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: that is what loose equality is
  if (Object.is(left, right) || (loose && left == right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return loose && Number.isNaN(left) && Number.isNaN(right);
  }
  if (seen.some(([one, other]) => one === left && other === right)) return true;
  if (!loose && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Object.prototype.toString.call(left) !== Object.prototype.toString.call(right)) return false;
  return compareObjects(left, right, loose, [...seen, [left, right]]);
}

function compareObjects(left: object, right: object, loose: boolean, seen: readonly (readonly [object, object])[]): boolean {
  if (Array.isArray(left) && Array.isArray(right) && left.length !== right.length) return false;
  if (left instanceof Date && right instanceof Date && !Object.is(left.getTime(), right.getTime())) return false;
  if (left instanceof RegExp && right instanceof RegExp && (String(left) !== String(right) || left.lastIndex !== right.lastIndex))
    return false;
  if (left instanceof Error && right instanceof Error && (left.message !== right.message || left.name !== right.name))
    return false;
  if (isBoxed(left) && isBoxed(right) && !Object.is(left.valueOf(), right.valueOf())) return false;
  if (left instanceof ArrayBuffer && right instanceof ArrayBuffer)
    return compare(new Uint8Array(left), new Uint8Array(right), loose, seen);
  if (left instanceof Set && right instanceof Set) {
    if (left.size !== right.size) return false;
    const rest = [...right];
    for (const item of left) if (!takeMatch(rest, (other) => compare(item, other, loose, seen))) return false;
  }
  if (left instanceof Map && right instanceof Map) {
    if (left.size !== right.size) return false;
    const rest = [...right];
    for (const [key, value] of left) {
      if (!takeMatch(rest, ([otherKey, other]) => compare(key, otherKey, loose, seen) && compare(value, other, loose, seen)))
        return false;
    }
  }
  const keys = ownKeys(left);
  return (
    keys.length === ownKeys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && compare(Reflect.get(left, key), Reflect.get(right, key), loose, seen))
  );
}

function takeMatch<Item>(rest: Item[], matches: (item: Item) => boolean): boolean {
  const at = rest.findIndex(matches);
  if (at >= 0) rest.splice(at, 1);
  return at >= 0;
}

function isBoxed(value: object): boolean {
  return (
    value instanceof Number ||
    value instanceof String ||
    value instanceof Boolean ||
    value instanceof BigInt ||
    value instanceof Symbol
  );
}

function ownKeys(value: object): (string | symbol)[] {
  const symbols = Object.getOwnPropertySymbols(value).filter((symbol) =>
    Object.prototype.propertyIsEnumerable.call(value, symbol),
  );
  return [...Object.keys(value), ...symbols];
}
