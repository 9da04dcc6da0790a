import type { NameRegistry } from './name-registry.ts';

/** Whose tools were named in a grant or in the list of a key: the units (their paths) that owned the names then. */
export type ToolOwners = Readonly<Record<string, string>>;

const noOwners: ToolOwners = Object.freeze({});

/** The owners of the tools that are named; a pattern and a tool that is not there yet mean whoever comes. */
export function findToolOwners(
  globs: readonly string[],
  names: Pick<NameRegistry, 'ownerOf' | 'isThere' | 'isReserved'>,
): ToolOwners {
  const owners: Record<string, string> = {};
  for (const name of globs) {
    const owner = names.ownerOf(name);
    if (owner !== undefined && (names.isThere(owner) || names.isReserved(name))) owners[name] = owner;
  }
  return owners;
}

/** Whether a tool that was named once is another unit's now. */
export function isAnothers(owners: ToolOwners | undefined, name: string, owner: string | undefined): boolean {
  if (owners === undefined || owner === undefined || !Object.hasOwn(owners, name)) return false;
  return owners[name] !== owner;
}

/** Reads what was kept; undefined when it is damaged. */
export function readToolOwners(json: string | null): ToolOwners | undefined {
  if (json === null) return noOwners;
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    return Object.fromEntries(Object.entries(parsed).map(([name, path]) => [name, String(path)]));
  } catch {
    return undefined;
  }
}
