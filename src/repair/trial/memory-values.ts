import type { KvTable } from '../../store/tables/plugins/kv.ts';

/** Values of `context.kv` for a trial: they lie in memory and are gone with it. */
export function createMemoryValues(): Pick<KvTable, 'get' | 'set' | 'delete' | 'list'> {
  const values = new Map<string, string>();
  const keyOf = (plugin: string, owner: string, key: string): string => JSON.stringify([plugin, owner, key]);
  const sizeOf = (key: string, value: string): number => Buffer.byteLength(key) + Buffer.byteLength(value);
  let bytes = 0;

  function remove(at: string, key: string): boolean {
    const value = values.get(at);
    if (value === undefined) return false;
    bytes -= sizeOf(key, value);
    return values.delete(at);
  }

  return {
    get: (plugin, owner, key) => values.get(keyOf(plugin, owner, key)),
    set(plugin, owner, key, value, quotaBytes) {
      const at = keyOf(plugin, owner, key);
      const before = values.get(at);
      const after = bytes - (before === undefined ? 0 : sizeOf(key, before)) + sizeOf(key, value);
      if (after > quotaBytes) return false;
      values.set(at, value);
      bytes = after;
      return true;
    },
    delete: (plugin, owner, key) => remove(keyOf(plugin, owner, key), key),
    list: (plugin, owner, { prefix, after = '', limit }) =>
      [...values]
        .map(([at, value]) => ({ of: JSON.parse(at), value }))
        .filter(
          ({ of: [itsPlugin, itsOwner, key] }) =>
            itsPlugin === plugin && itsOwner === owner && key.startsWith(prefix) && key > after,
        )
        .map(({ of: [, , key], value }): { key: string; value: string } => ({ key, value }))
        .sort((one, other) => (one.key < other.key ? -1 : 1))
        .slice(0, limit),
  };
}
