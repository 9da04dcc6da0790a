import { HotcellError } from '../../errors/hotcell-error.ts';
import type { NameRegistry, WantedNames } from '../../names/name-registry.ts';
import type { GrantRegistry } from '../../permissions/grant-registry.ts';
import { type OfferingManifest, type Offerings, ownedNameOf } from '../../units/offering.ts';
import { setFlags, type ToolManifest } from '../../units/tool-manifest.ts';
import type { ServedUnit, Unit } from '../../units/unit.ts';
import type { UnitSource, UnitStanding } from '../../units/unit-registry.ts';
import type { ToolRegistry } from '../registry.ts';
import type { ToolsNews } from '../tools-news.ts';
import { createDaemonRunner } from './daemon-runner.ts';
import type { EngineUnit, HostedTool, HostedUnit } from './hosted-types.ts';

/** Units of tools that the daemon carries out itself. */
export interface HostedTools extends UnitSource {
  /** Puts a unit in place of the one with its path. Throws `tool-duplicate` and changes nothing when a tool is somebody else's. */
  put(unit: HostedUnit | EngineUnit): void;
  /** Takes a unit out; harmless when there is none. */
  remove(path: string): void;
  /** Units may be put until this settles: who asks for a tool that is not there waits so long. */
  expect(units: Promise<unknown>): void;
}

const noFlags = setFlags(() => false);

/** Creates the registry of hosted units. */
export function createHostedTools(parts: {
  readonly registry: ToolRegistry;
  readonly decide: GrantRegistry['decide'];
  /** Who owns which name. */
  readonly names: Pick<NameRegistry, 'arrive' | 'settle' | 'findTaken' | 'claim'>;
  /** Told which tools come and go. */
  readonly news: Pick<ToolsNews, 'note'>;
}): HostedTools {
  const { names } = parts;
  const expected = new Set<Promise<unknown>>();
  const unitsByPath = new Map<string, KeptUnit>();

  /** A tool, or what answers a prompt or a resource, as it is now: what was taken back since does not run. */
  function findTool(path: string, id: string, name: string): Pick<HostedTool, 'run'> | undefined {
    const kept = unitsByPath.get(path);
    if (kept?.served.unit.id !== id || 'runner' in kept.hosted) return undefined;
    const { tools, offerings = [] } = kept.hosted;
    const run = offerings.find(({ handlers }) => Object.hasOwn(handlers, name))?.handlers[name];
    return tools.find((tool) => tool.name === name) ?? (run && { run });
  }

  function listKeys(path: string): string[] {
    const kept = unitsByPath.get(path)?.hosted;
    return kept === undefined ? [] : kept.tools.map(({ name }) => `${name}@${kept.version}`);
  }

  /** What of a unit is served. A prompt or an address of somebody else stays theirs, and takes no tool of this unit away. */
  function requireNames(given: HostedUnit | EngineUnit): HostedUnit | EngineUnit {
    const { path, name, version } = given;
    names.arrive(path, [name]);
    names.settle(path);
    const isFree = (manifest: OfferingManifest): boolean =>
      names.findTaken(path, { version, tools: [ownedNameOf(manifest)] }) === undefined;
    const hosted =
      'runner' in given ? given : { ...given, offerings: given.offerings?.filter(({ manifest }) => isFree(manifest)) ?? [] };
    const taken = names.findTaken(path, wantedOf(hosted));
    if (taken !== undefined) {
      const message = `The tool "${taken.name}" of ${path} exists already: it belongs to ${taken.owner}.`;
      throw new HotcellError('tool-duplicate', message, { facts: { tool: taken.name, owner: taken.owner, second: path } });
    }
    return hosted;
  }

  return {
    put(given) {
      const hosted = requireNames(given);
      const unit = describeUnit(hosted, findTool);
      const served: ServedUnit = {
        unit,
        granted: 'runner' in hosted ? () => hosted.granted : (use) => parts.decide(unit, use).granted,
        lease: () => () => undefined,
      };
      parts.registry.publish(served);
      names.claim(hosted.path, wantedOf(hosted));
      const before = listKeys(hosted.path);
      unitsByPath.set(hosted.path, { hosted, served });
      parts.news.note(before, listKeys(hosted.path));
    },
    remove(path) {
      parts.registry.withdraw(path);
      parts.news.note(listKeys(path), []);
      unitsByPath.delete(path);
    },
    expect(units) {
      expected.add(units);
      const settle = () => void expected.delete(units);
      units.then(settle, settle);
    },
    find(name) {
      const isMeant = ({ path, manifest }: Unit): boolean => path === name || manifest.name === name;
      const found = unitsByPath.values().find(({ served }) => isMeant(served.unit));
      return found && describeStanding(found);
    },
    list: () => [...unitsByPath.values()].map(describeStanding),
    findServable: (id) => unitsByPath.values().find(({ served }) => served.unit.id === id)?.served,
    isLoading: () => expected.size > 0,
    // A call asks what is granted as it begins: nothing is kept that could be out of date.
    refreshGrants: async () => {},
  };
}

/** A unit and who serves it. */
interface KeptUnit {
  readonly hosted: HostedUnit | EngineUnit;
  readonly served: ServedUnit;
}

/** What has its permissions by itself asks nobody for them. */
function describeStanding({ hosted, served: { unit } }: KeptUnit): UnitStanding {
  const { name, version } = unit.manifest;
  return { name, version, shownPath: name, state: 'ready', ...('runner' in hosted ? {} : { asking: unit }) };
}

function wantedOf(hosted: HostedUnit | EngineUnit): WantedNames {
  const { version, tools } = hosted;
  return { version, tools: [...tools.map((tool) => tool.name), ...listManifests(hosted).map(ownedNameOf)] };
}

function listManifests(hosted: HostedUnit | EngineUnit): readonly OfferingManifest[] {
  const { offerings = [] } = 'runner' in hosted ? {} : hosted;
  return offerings.map(({ manifest }) => manifest);
}

function describeOfferings(hosted: HostedUnit | EngineUnit): Offerings {
  const manifests = listManifests(hosted);
  const prompts = manifests.filter((each) => each.kind === 'prompt');
  const resources = manifests.filter((each) => each.kind === 'resource');
  return { ...(prompts.length > 0 && { prompts }), ...(resources.length > 0 && { resources }) };
}

function describeUnit(
  hosted: HostedUnit | EngineUnit,
  findTool: (path: string, id: string, name: string) => Pick<HostedTool, 'run'> | undefined,
): Unit {
  const { path, name, version, description, contentHash, author, writtenBy, kind } = hosted;
  const id = `${path}@${version}#${contentHash}`;
  return {
    kind,
    path,
    id,
    contentHash,
    author,
    ...(writtenBy === undefined ? {} : { writtenBy }),
    manifest: {
      name,
      version,
      description,
      isolation: 'call',
      limits: 'runner' in hosted ? {} : (hosted.limits ?? {}),
      permissions: 'runner' in hosted ? hosted.granted : hosted.permissions,
      tools: hosted.tools.map((tool) => describeTool(tool, kind)),
      ...describeOfferings(hosted),
    },
    runner: 'runner' in hosted ? hosted.runner : createDaemonRunner((tool) => findTool(path, id, tool)),
  };
}

function describeTool(tool: HostedTool | EngineUnit['tools'][number], kind: HostedUnit['kind']): ToolManifest {
  const { run: _run, flags, ...said } = { run: undefined, ...tool };
  return {
    tags: [],
    // What comes in numbers is shown to models where it fits.
    mode: kind === 'builtin' ? 'on' : 'auto',
    retries: 0,
    idempotent: false,
    examples: [],
    ...said,
    handler: said.name,
    inputSource: 'parameters',
    flags: { ...noFlags, ...flags },
  };
}
