/** Makes a plugin of a tool file in another shape. Bundled with such files alone; the rest of the sandbox knows nothing of it. */
import { isMaker, isOpencodePlugin, isRegistrar, isToolClass, parameterNames } from './functions.ts';
import { absentPart, endLoading, environment, handedOver, installProcess, isRecord } from './late.ts';
import { builtinOf, packageOf } from './packages.ts';
import { type FoundTool, makeHandler, readForeignTool } from './read-tool.ts';
import { createApi, readForeignTools, recorded, Server } from './recorders.ts';

export { builtinOf, packageOf };

type Json = Record<string, unknown>;

interface Found extends FoundTool {
  /** The name of the export or of the key under which it stands. */
  readonly key: string;
}

const maxDepth = 3;
const maxTools = 64;
/** Rounds in which a file that goes on after its first `await` may register what it has. */
const settleRounds = 20;

const exit = () => void recorded.other.add('process.exit');
Object.assign(globalThis, { __hotcellEnv: environment, __hotcellExit: exit });
installProcess(exit);

/** The plugin that a module namespace stands for; it is complete once its `onLoad` has settled. */
export function adapt(namespace: unknown): Json {
  const plugin: Json = {};
  plugin.onLoad = async () => {
    delete plugin.onLoad;
    for (let round = 0; round < settleRounds; round++) await undefined;
    const found = await findTools(isRecord(namespace) ? namespace : { default: namespace });
    const offered = await readOfferings();
    endLoading();
    const isSome = found.length > 0 || Object.keys(offered).length > 0;
    Object.assign(plugin, isSome ? { ...toPlugin(found), ...offered } : { $shape: describeNothing(namespace) });
  };
  return plugin;
}

/** Prompts and resources of all servers that the file made. */
async function readOfferings(): Promise<Json> {
  const all: Record<'prompts' | 'resources', Json> = { prompts: {}, resources: {} };
  for (const server of recorded.servers) {
    const { prompts, resources } = await server.readOfferings();
    Object.assign(all.prompts, prompts);
    Object.assign(all.resources, resources);
  }
  return Object.fromEntries(Object.entries(all).filter(([, table]) => Object.keys(table).length > 0));
}

async function findTools(namespace: Json): Promise<Found[]> {
  const { default: main, ...named } = namespace;
  const holder =
    isRecord(main) && main.default !== undefined && Object.keys(main).every((key) => key === 'default' || key === '__esModule')
      ? main.default
      : main;
  const found = await collect(holder, 'default', 0);
  if (found.length > 0) return unique(found);
  // Exports that are the members of one tool: `description`, `parameters`, `execute`.
  const whole = typeof named.description === 'string' ? readForeignTool({ ...named }) : undefined;
  if (whole !== undefined) return [{ ...whole, key: 'default' }];
  const fromNames: Found[] = [];
  for (const [key, value] of Object.entries(named)) if (key !== '__esModule') fromNames.push(...(await collect(value, key, 0)));
  if (fromNames.length > 0) return unique(fromNames);
  for (const server of recorded.servers) fromNames.push(...keyed(readForeignTools(await server.readTools())));
  if (fromNames.length > 0) return unique(fromNames);
  if (recorded.tools.length > 0) return unique(keyed(readForeignTools(recorded.tools)));
  const served = await collectFromRoutes();
  if (served.length > 0) return unique(served);
  return typeof holder === 'function' && !isToolClass(holder) && !isRegistrar(holder)
    ? [bareFunction(holder as () => unknown)]
    : [];
}

function unique(found: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return found.filter((each) => {
    const name = each.name ?? each.key;
    return seen.size < maxTools && !seen.has(name) && seen.add(name);
  });
}

/** Tools that stand under no key; a single one without a name is called like its file. */
function keyed(found: readonly FoundTool[]): Found[] {
  return found.map((each, index) => ({ ...each, key: found.length === 1 ? 'default' : `tool_${index + 1}` }));
}

async function collect(value: unknown, key: string, depth: number): Promise<Found[]> {
  if (value instanceof Server) return keyed(readForeignTools(await value.readTools()));
  const one = readForeignTool(value);
  if (one !== undefined) return [{ ...one, key }];
  if (typeof value === 'function') return depth > 1 ? [] : collectFrom(value as (...args: unknown[]) => unknown, key);
  if (!isRecord(value) || depth >= maxDepth) return [];
  if (isRecord(value._registeredTools))
    return keyed(
      readForeignTools(Object.entries(value._registeredTools).map(([name, tool]) => (isRecord(tool) ? { ...tool, name } : tool))),
    );
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((each, index) => [`${key}_${index + 1}`, each])
    : Object.entries(value);
  const found: Found[] = [];
  for (const [name, inner] of entries)
    if (isRecord(inner) || isToolClass(inner)) found.push(...(await collect(inner, name, depth + 1)));
  return found;
}

/** A server over HTTP is made anew for every request: its routes are tried with nothing in them. */
async function collectFromRoutes(): Promise<Found[]> {
  const request = { headers: {}, query: {}, params: {}, method: 'POST', body: absentPart('body') };
  for (const route of handedOver) {
    try {
      await route(request, absentPart('response'), absentPart('next'));
    } catch {
      // A route that needs more of a request says nothing about tools.
    }
  }
  const listed = await Promise.all(recorded.servers.map((server) => server.readTools()));
  return keyed(readForeignTools(listed.flat()));
}

/** Tools that a function makes or registers, when it is one that does. */
async function collectFrom(fn: (...args: unknown[]) => unknown, key: string): Promise<Found[]> {
  try {
    if (isToolClass(fn)) return fromClass(fn, key);
    if (isRegistrar(fn)) return await fromRegistrar(fn);
    if (isOpencodePlugin(fn)) return await collect(await fn(absentPart('the context of opencode')), key, 1);
    return isMaker(fn) ? nameAfter(await collect(await fn(), key, 1), key) : [];
  } catch (error) {
    recorded.other.add(`!${key}: ${isRecord(error) ? String(error.message) : 'it threw'}`);
    return [];
  }
}

function nameAfter(found: readonly Found[], key: string): Found[] {
  const [first] = found;
  return found.length === 1 && first !== undefined ? [{ ...first, key }] : [...found];
}

async function fromRegistrar(fn: (...args: unknown[]) => unknown): Promise<Found[]> {
  const { api, tools, server, start } = createApi();
  const others = parameterNames(fn)
    .slice(1)
    .map((name) => absentPart(name));
  await fn(api, ...others);
  if (tools.length === 0) await start();
  const registered = [...tools, ...(await server.readTools())];
  const found = readForeignTools(registered);
  if (found.length === 0) recorded.unreadable += registered.length;
  return keyed(found);
}

/** An instance without options; those that it looked for and did not find are named in a warning. */
function fromClass(Made: new (options: object) => object, key: string): Found[] {
  const wanted = new Set<string>();
  const options = new Proxy(
    {},
    { get: (_target, name) => (typeof name === 'string' && !common.has(name) ? void wanted.add(name) : undefined) },
  );
  const one = readForeignTool(new Made(options));
  if (one === undefined) return [];
  const warnings = wanted.size === 0 ? {} : { $options: [...wanted].slice(0, 8) };
  return [{ ...one, shape: one.shape === 'tool object' ? 'class' : one.shape, key, tool: { ...one.tool, ...warnings } }];
}

const common: ReadonlySet<string> = new Set([
  'name',
  'description',
  'schema',
  'func',
  'callbacks',
  'tags',
  'metadata',
  'verbose',
  'then',
]);

function bareFunction(fn: (...args: unknown[]) => unknown): Found {
  return {
    name: undefined,
    key: 'default',
    shape: 'function',
    tool: { handler: makeHandler(fn, { owner: undefined, shape: 'function' }) },
  };
}

/** One tool without a name is the plugin itself and is called like its file; others stand in `tools`. */
function toPlugin(found: readonly Found[]): Json {
  const [first] = found;
  const $shape = {
    name: [...new Set(found.map(({ shape }) => shape))].join(', '),
    options: found.flatMap(({ tool }) => tool.$options ?? []),
    unread: found.flatMap(({ tool }) => tool.$unread ?? []),
  };
  for (const { tool } of found) {
    delete tool.$options;
    delete tool.$unread;
  }
  if (found.length === 1 && first !== undefined && first.name === undefined && first.key === 'default')
    return { ...first.tool, $shape };
  if (found.length === 0) return { $shape: { ...$shape, name: 'MCP server' } };
  const tools: Json = {};
  for (const { name, key, tool } of found) tools[toName(name ?? key)] = tool;
  return { tools, $shape };
}

function toName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64);
  return plain === '' || plain === 'default' ? 'tool' : plain;
}

/** What was seen of a file that no tool could be made of. */
function describeNothing(namespace: unknown): Json {
  const exported = isRecord(namespace) ? Object.entries(namespace) : [];
  const classes = exported.flatMap(([name, value]) => (isToolClass(value) ? [name === 'default' ? value.name : name] : []));
  const makers = exported.flatMap(([name, value]) => (isAskingMaker(value) ? [name] : listMakers(name, value)));
  const functions = exported.flatMap(([name, value]) =>
    typeof value === 'function' && name !== 'default' && !isToolClass(value) ? [name] : [],
  );
  const definitions = exported.flatMap(([name, value]) =>
    isDefinition(value) || (Array.isArray(value) && value.some(isDefinition)) ? [name] : [],
  );
  const workers = exported.flatMap(([name, value]) => (definitions.includes(name) ? [] : listFunctions(name, value)));
  const seen = [...recorded.other];
  const other = seen.filter((each) => !each.startsWith('!'));
  const failures = seen.filter((each) => each.startsWith('!')).map((each) => each.slice(1));
  const { servers, unreadable } = recorded;
  return {
    nothing: {
      ...{ makers, classes, functions, definitions, workers, other, failures, unreadable },
      servers: servers.length,
      exports: exported.length,
    },
  };
}

/** Whether a function makes tools and wants options for that; one that registers them was called. */
function isAskingMaker(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function' && value.length > 0 && isMaker(value as never, value.length) && !isRegistrar(value);
}

function listMakers(name: string, value: unknown): string[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (isAskingMaker(inner) ? [`${name}.${key}`] : []));
}

/** An exported function, or those of an exported table: what the work of a tool that is only described may be. */
function listFunctions(name: string, value: unknown): string[] {
  if (typeof value === 'function') return [name];
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (typeof inner === 'function' ? [`${name}.${key}`] : []));
}

function isDefinition(value: unknown): boolean {
  if (isRecord(value) && value.type === 'function' && isRecord(value.function)) return isDefinition(value.function);
  return (
    isRecord(value) &&
    (typeof value.description === 'string' || typeof value.name === 'string') &&
    (isRecord(value.inputSchema) || isRecord(value.parameters) || isRecord(value.input_schema))
  );
}
