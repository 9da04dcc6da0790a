import { HotcellError } from '../../errors/hotcell-error.ts';
import type { GrantBook } from '../../permissions/grants.ts';
import type { NameBook, WantedNames } from '../../permissions/name-book.ts';
import type { Generation } from '../../units/generation.ts';
import type { PluginManifest, ToolManifest } from '../../units/manifest.ts';
import type { PublishedGeneration } from '../tool-types.ts';
import type { ToolRegistry } from '../tools-api.ts';
import type { ToolsNews } from '../tools-news.ts';
import { createHostedEngine } from './hosted-engine.ts';
import type { HostedTool, HostedUnit } from './hosted-types.ts';

/** Units of tools that the daemon carries out itself. */
export interface HostedTools {
  /** Puts a unit in place of the one with its path. Throws `tool-duplicate` and changes nothing when a tool is somebody else's. */
  put(unit: HostedUnit): void;
  /** Takes a unit out; harmless when there is none. */
  remove(path: string): void;
  /** The unit by its name or path, as people decide on what it asks for. */
  find(name: string): Generation | undefined;
  list(): readonly Generation[];
  /** A unit that may serve now, by the id of its generation: for calls that waited for a person. */
  findServable(generationId: string): PublishedGeneration | undefined;
}

const noFlags = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: false,
} as const;

/** Creates the book of hosted units. */
export function createHostedTools(parts: {
  readonly registry: ToolRegistry;
  readonly decide: GrantBook['decide'];
  /** Who owns which name. */
  readonly names: Pick<NameBook, 'arrive' | 'settle' | 'findTaken' | 'claim'>;
  /** Told which tools come and go. */
  readonly news: Pick<ToolsNews, 'note'>;
}): HostedTools {
  const { names } = parts;
  const unitsByPath = new Map<string, { readonly unit: HostedUnit; readonly published: PublishedGeneration }>();

  function findTool(programKey: string, handler: string): HostedTool | undefined {
    for (const { unit, published } of unitsByPath.values()) {
      if (published.generation.program.key === programKey) return unit.tools.find(({ name }) => name === handler);
    }
    return undefined;
  }

  const engine = createHostedEngine(findTool);

  function listKeys(path: string): string[] {
    const unit = unitsByPath.get(path)?.unit;
    return unit === undefined ? [] : unit.tools.map(({ name }) => `${name}@${unit.version}`);
  }

  function requireNames(unit: HostedUnit): void {
    const { path, name } = unit;
    names.arrive(path, [name]);
    names.settle(path);
    const taken = names.findTaken(path, wantedOf(unit));
    if (taken !== undefined) {
      const message = `The tool "${taken.name}" of ${path} exists already: it belongs to ${taken.owner}.`;
      throw new HotcellError('tool-duplicate', message, { facts: { tool: taken.name, owner: taken.owner, second: path } });
    }
  }

  return {
    put(unit) {
      const generation = describeGeneration(unit);
      const published: PublishedGeneration = {
        source: unit.source,
        engine,
        generation,
        manifest: generation.manifest,
        granted: (use) => parts.decide(generation, use).granted,
        lease: () => () => undefined,
      };
      requireNames(unit);
      parts.registry.publish(unit.path, published);
      names.claim(unit.path, wantedOf(unit));
      parts.news.note(
        listKeys(unit.path),
        unit.tools.map(({ name }) => `${name}@${unit.version}`),
      );
      unitsByPath.set(unit.path, { unit, published });
    },
    remove(path) {
      parts.registry.withdraw(path);
      parts.news.note(listKeys(path), []);
      unitsByPath.delete(path);
    },
    find(name) {
      for (const { published } of unitsByPath.values()) {
        const { generation } = published;
        if (generation.pluginPath === name || generation.manifest.name === name) return generation;
      }
      return undefined;
    },
    list: () => [...unitsByPath.values()].map(({ published }) => published.generation),
    findServable(id) {
      return [...unitsByPath.values()].find(({ published }) => published.generation.id === id)?.published;
    },
  };
}

function wantedOf({ version, tools }: HostedUnit): WantedNames {
  return { version, tools: tools.map((tool) => tool.name) };
}

function describeGeneration(unit: HostedUnit): Generation {
  const { path, name, version, description, permissions, contentHash, author } = unit;
  const id = `${path}@${version}#${contentHash}`;
  const manifest: PluginManifest = {
    name,
    version,
    description,
    engine: 'docker',
    isolation: 'call',
    limits: {},
    permissions,
    permissionsSource: 'declared',
    tools: unit.tools.map(describeTool),
    hooks: { onStart: false, onReload: false, healthcheck: false },
    warnings: [],
  };
  const program = {
    key: id,
    label: name,
    readCode: async () => '',
    readImage: async () => undefined,
    saveImage: () => undefined,
  };
  return { id, pluginPath: path, number: 1, author, contentHash, createdAtMs: 0, manifest, inputs: [], program };
}

function describeTool({ name, description, input, output, tags, who, timeoutMs }: HostedTool): ToolManifest {
  return {
    name,
    handler: name,
    description,
    input,
    inputSource: 'parameters',
    ...(output === undefined ? {} : { output }),
    flags: noFlags,
    tags,
    mode: 'on',
    who,
    timeoutMs,
    retries: 0,
    idempotent: false,
    examples: [],
  };
}
