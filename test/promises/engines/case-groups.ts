import type { NetworkCase } from '../permission-cases.ts';

/** A place that is asked for under a grant. */
export type PlaceToTry = Pick<NetworkCase, 'what' | 'place' | 'granted' | 'names'>;

/** Places that one call can ask for: they share a grant, and no name of theirs means two things. */
export interface CaseGroup {
  readonly granted: NetworkCase['granted'];
  readonly names: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly members: readonly PlaceToTry[];
}

/** Puts places together, so that a guest that is slow to start is started as seldom as can be. */
export function groupByGrant(places: readonly PlaceToTry[]): readonly CaseGroup[] {
  const groups: CaseGroup[] = [];
  for (const place of places) {
    const { granted, names = {} } = place;
    const at = groups.findIndex(
      (group) =>
        JSON.stringify(group.granted) === JSON.stringify(granted) && Object.keys(names).every((name) => !(name in group.names)),
    );
    const group = groups[at] ?? { granted, names: {}, members: [] };
    groups[at < 0 ? groups.length : at] = {
      granted,
      names: { ...group.names, ...names },
      members: [...group.members, place],
    };
  }
  return groups;
}
