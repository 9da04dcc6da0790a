import { HotcellError } from '../errors/hotcell-error.ts';
import type { Asking } from '../permissions/grant-registry.ts';
import type { ServedUnit } from './unit.ts';

/** A unit as people see it who decide on what it asks for. */
export interface UnitStanding {
  readonly name: string;
  readonly version: string;
  /** The path of the unit as people read it. */
  readonly shownPath: string;
  /** The state of its lifecycle. */
  readonly state: string;
  /** What they decide on; absent while no state of it can ask for anything. */
  readonly asking?: Asking;
  /** Why it needs another engine; the daemon's own words. */
  readonly reason?: string;
}

/** The content of a unit: a state may have gone while an equal one serves. */
export interface UnitContent {
  readonly unitPath: string;
  readonly contentHash: string;
}

/** A maker of units, and the units that it has. */
export interface UnitSource {
  /** By name or path; undefined when it has none, unless it can say what was meant: then it throws that. */
  find(name: string): UnitStanding | undefined;
  list(): readonly UnitStanding[];
  /** A state that may serve now, current or not, by its id or by its content: for calls that began with it and waited since. */
  findServable(id: string, content?: UnitContent): ServedUnit | undefined;
  /** Whether a unit that serves nothing yet may soon bring tools. */
  isLoading(): boolean;
  /** Brings what serves in line with what is granted, after that has changed. */
  refreshGrants(): Promise<void>;
}

/** All units of all makers. */
export interface UnitRegistry extends UnitSource {
  /** Throws `plugin-unknown` with near names. */
  find(name: string): UnitStanding;
}

/** Makes one registry of all makers, who are asked in their order. */
export function createUnitRegistry(sources: readonly UnitSource[]): UnitRegistry {
  function first<Found>(ask: (source: UnitSource) => Found | undefined): Found | undefined {
    for (const source of sources) {
      const found = ask(source);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return {
    find(name) {
      const found = first((source) => source.find(name));
      if (found === undefined) throw new HotcellError('plugin-unknown', `There is no plugin "${name.slice(0, 200)}".`);
      return found;
    },
    list: () => sources.flatMap((source) => source.list()),
    findServable: (id, content) => first((source) => source.findServable(id, content)),
    isLoading: () => sources.some((source) => source.isLoading()),
    async refreshGrants() {
      await Promise.all(sources.map((source) => source.refreshGrants()));
    },
  };
}
