/** The text of a property key that is written out; undefined for a computed or private one. */
export function keyName(key: { readonly type: string; readonly name?: unknown; readonly value?: unknown }): string | undefined {
  if (key.type === 'Identifier' && typeof key.name === 'string') return key.name;
  return key.type === 'Literal' && (typeof key.value === 'string' || typeof key.value === 'number')
    ? String(key.value)
    : undefined;
}
