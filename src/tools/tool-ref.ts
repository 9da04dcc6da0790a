/** A reference to a tool, taken apart. `range` is absent for a bare name. */
export interface ToolRef {
  readonly name: string;
  readonly range?: string;
}

/** The longest reference that is looked at; names and ranges beyond it exist nowhere. */
export const maxRefLength = 256;

/**
 * Splits `name`, `name@1.2.3` and `name@range` at the last `@` that is not the first character, so that scoped names stay
 * whole. An empty range and `latest` mean the bare name.
 */
export function parseToolRef(ref: string): ToolRef {
  const at = ref.lastIndexOf('@');
  if (at <= 0) return { name: ref };
  const name = ref.slice(0, at);
  const range = ref.slice(at + 1).trim();
  return range === '' || range === 'latest' ? { name } : { name, range };
}
