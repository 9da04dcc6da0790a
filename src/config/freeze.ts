/** Freezes a value and everything in it. */
export function freezeDeep<Data>(value: Data): Data {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezeDeep(inner);
  return value;
}
