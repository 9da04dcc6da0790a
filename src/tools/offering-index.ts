import type { NameRegistry } from '../names/name-registry.ts';
import { listOfferings, type OfferingKind, ownedNameOf } from '../units/offering.ts';
import type { ServedUnit } from '../units/unit.ts';
import { maxUriChars, readUriTemplate, type UriTemplate } from '../units/uri-template.ts';
import { makeOfferingEntry, type OfferingEntry } from './tool-types.ts';

interface Listed {
  readonly prompts: readonly OfferingEntry[];
  readonly resources: readonly OfferingEntry[];
  readonly byName: ReadonlyMap<string, OfferingEntry>;
  /** The most exact one first. */
  readonly templates: ReadonlyArray<{ readonly entry: OfferingEntry; readonly template: UriTemplate }>;
}

/** The prompts and resources that can be asked for now; of each name and each address the one of the unit that owns it. */
export type OfferingIndex = ReturnType<typeof createOfferingIndex>;

/** Creates an empty index. */
export function createOfferingIndex(names: Pick<NameRegistry, 'ownerOf' | 'revision'> | undefined) {
  const entriesByUnit = new Map<string, readonly OfferingEntry[]>();
  let listed: Listed | undefined;
  let namesRevision = names?.revision;

  function look(): Listed {
    if (names?.revision !== namesRevision) listed = undefined;
    namesRevision = names?.revision;
    listed ??= arrange(new Map(pickOwners(entriesByUnit, names)));
    return listed;
  }

  return {
    /** Puts what a unit brings in place of what it brought; undefined takes it out. */
    replace(path: string, served: ServedUnit | undefined): void {
      const entries =
        served === undefined ? [] : listOfferings(served.unit.manifest).map((each) => makeOfferingEntry(each, served));
      if (entries.length === 0 && !entriesByUnit.has(path)) return;
      if (entries.length === 0) entriesByUnit.delete(path);
      else entriesByUnit.set(path, entries);
      listed = undefined;
    },
    /** In order of their names, resources of their addresses. */
    list: (kind: OfferingKind): readonly OfferingEntry[] => (kind === 'prompt' ? look().prompts : look().resources),
    findPrompt: (name: string): OfferingEntry | undefined => look().byName.get(`prompt:${name}`),
    /** The resource with this address; else the most exact template that it fits, with the values of its variables. */
    findResource(
      uri: string,
      sees: (entry: OfferingEntry) => boolean,
    ): { readonly entry: OfferingEntry; readonly values: Readonly<Record<string, string>> } | undefined {
      if (uri.length > maxUriChars) return undefined;
      const { byName, templates } = look();
      const exact = byName.get(`resource:${uri}`);
      if (exact !== undefined && !isTemplate(exact) && sees(exact)) return { entry: exact, values: {} };
      for (const { entry, template } of templates) {
        const values = sees(entry) ? template.match(uri) : undefined;
        if (values !== undefined) return { entry, values };
      }
      return undefined;
    },
  };
}

/** Where nobody owns a name, the unit with the first path has it. */
function pickOwners(
  entriesByUnit: ReadonlyMap<string, readonly OfferingEntry[]>,
  names: Pick<NameRegistry, 'ownerOf'> | undefined,
): Array<[string, OfferingEntry]> {
  const paths = [...entriesByUnit.keys()].sort().reverse();
  return paths.flatMap((path) =>
    (entriesByUnit.get(path) ?? []).flatMap((entry): Array<[string, OfferingEntry]> => {
      const name = ownedNameOf(entry.offering);
      const owner = names?.ownerOf(name) ?? path;
      return owner === path ? [[name, entry]] : [];
    }),
  );
}

function arrange(byName: ReadonlyMap<string, OfferingEntry>): Listed {
  const entries = [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
  const templates = entries.flatMap((entry) => {
    const { offering } = entry;
    const template = offering.kind === 'resource' && offering.isTemplate ? readUriTemplate(offering.uri) : '';
    return typeof template === 'string' ? [] : [{ entry, template }];
  });
  return {
    prompts: entries.filter(({ offering }) => offering.kind === 'prompt'),
    resources: entries.filter(({ offering }) => offering.kind === 'resource'),
    byName,
    templates: templates.sort((one, other) => other.template.fixedChars - one.template.fixedChars),
  };
}

function isTemplate({ offering }: OfferingEntry): boolean {
  return offering.kind === 'resource' && offering.isTemplate;
}
