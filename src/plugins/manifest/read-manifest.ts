import { valid } from 'semver';
import { engineNames } from '../../config/engine-names.ts';
import { isObject } from '../../config/json-object.ts';
import { type LimitName, type Limits, limitTable, listRaisedLimits } from '../../config/limits.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import type { EngineName } from '../../engines/engine.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { parseRequestedPermissions } from '../../permissions/parse.ts';
import { listOfferings } from '../../units/offering.ts';
import type { ToolManifest } from '../../units/tool-manifest.ts';
import { renderCodeFrame } from '../diagnostics/code-frame.ts';
import { explainName, nameFromFile } from '../discovery/entry-names.ts';
import type { PluginManifest } from '../generations/generation.ts';
import type { Diagnostic } from '../plugin-types.ts';
import type { SchemaReadResult } from '../schema/schema-types.ts';
import {
  checkKeys,
  invalidField,
  isFunctionMark,
  type ManifestNode,
  pathOf,
  readChoice,
  readObject,
  readTextField,
} from './manifest-fields.ts';
import { readOfferings } from './read-offerings.ts';
import { maxDescription, readTool, toolKeys } from './read-tool.ts';
import { selectExport } from './select-export.ts';

/** Keys of a plugin. What stands in `metadata` is the plugin's own business. */
export const pluginKeys = [
  'name',
  'version',
  ...toolKeys,
  'tools',
  'prompts',
  'resources',
  'permissions',
  'isolation',
  'engine',
  'limits',
  'onLoad',
  'onStart',
  'onReload',
  'healthcheck',
  'metadata',
  // OrcBot's skill interface has these two; the address counts, the path is the daemon's own to know.
  'sourceUrl',
  'pluginPath',
] as const;

/** What a manifest is read from. */
export interface ManifestInput {
  /**
   * What the module exports, as bounded JSON: `{ default, named }`. Functions are `{ "$function": true }`; schema objects
   * are their JSON Schema, or `{ "$standardSchema": true }` when they have none.
   */
  readonly exported: unknown;
  /** Name of the plugin's file or folder; the plugin is called so when it says no name. */
  readonly fileName: string;
  /** What was read off the source; absent for plugins without one. */
  readonly inferred?: SchemaReadResult;
}

/** The checked manifest, or why it is none. */
export type ManifestResult =
  | { readonly ok: true; readonly manifest: PluginManifest }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const maxTools = 64;
const maxWarnings = 30;

/** Reads what a plugin exports into a manifest. Pure; a failure is one diagnostic that names the key. */
export function readManifest(input: ManifestInput): ManifestResult {
  try {
    return { ok: true, manifest: readPlugin(input) };
  } catch (error) {
    if (error instanceof HotcellError) return { ok: false, diagnostic: toDiagnostic(error, input) };
    throw error;
  }
}

function readPlugin(input: ManifestInput): PluginManifest {
  const fileBase = input.fileName.replace(/\.(?:[mc]?[jt]sx?|wasm)$/, '');
  const { node, warnings: selectWarnings } = selectExport(input.exported, fileBase, pluginKeys);
  checkKeys(node, pluginKeys);
  const warnings: string[] = [...selectWarnings, ...(input.inferred?.warnings ?? [])];
  const warn = (warning: string) => {
    if (warnings.length < maxWarnings && !warnings.includes(warning)) warnings.push(warning);
  };
  const name = readName(node, input.fileName);
  const unlike = node.data.name === undefined ? explainName(input.fileName) : undefined;
  if (unlike !== undefined) warn(unlike);
  const isolation = readChoice(node, 'isolation', ['call', 'session', 'plugin']) ?? 'call';
  const { permissions, permissionsSource } = readPermissions(node, input);
  const offerings = readOfferings(node, { warn });
  const engine = readEngine(node);
  if (engine === 'extism' && listOfferings(offerings).length > 0) throw refuseOfferings();
  const tools = readTools(node, { name, hasOfferings: listOfferings(offerings).length > 0, input, warn });
  const limits = readLimits(node);
  const calls = [...tools, ...listOfferings(offerings).map(({ call }) => call)];
  const times = calls.flatMap(({ timeoutMs: wallMs }) => (wallMs === undefined ? [] : [{ wallMs }]));
  const raised = listRaisedLimits(limits, ...times);
  const sourceUrl = input.inferred?.sourceUrl ?? readTextField(node, 'sourceUrl', 2048);
  return {
    name,
    version: readVersion(node),
    description: readTextField(node, 'description', maxDescription) ?? tools[0]?.description ?? '',
    engine,
    isolation,
    limits,
    permissions: {
      ...permissions,
      // One cell for all callers is something to ask for: their data meets in it. So is more than every plugin may use.
      ...(isolation === 'plugin' && { sharedCell: true }),
      ...(raised.length > 0 && { limits: raised }),
    },
    permissionsSource,
    tools,
    ...offerings,
    hooks: readHooks(node),
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    warnings,
  };
}

function readName(node: ManifestNode, fileName: string): string {
  const name = node.data.name;
  if (name === undefined) return nameFromFile(fileName);
  if (typeof name === 'string' && namePattern.test(name)) return name;
  throw invalidField(pathOf(node, 'name'), 'a name of 1 to 64 letters, digits, "_" or "-"', name);
}

function readVersion(node: ManifestNode): string {
  const { version } = node.data;
  if (version === undefined) return '0.0.0';
  const parsed = typeof version === 'string' ? valid(version) : null;
  if (parsed !== null) return parsed;
  throw invalidField(pathOf(node, 'version'), 'a semantic version such as "1.2.0"', version);
}

function readEngine(node: ManifestNode): EngineName {
  return readChoice(node, 'engine', engineNames) ?? 'quickjs';
}

function readLimits(node: ManifestNode): Partial<Limits> {
  const limits = readObject(node, 'limits');
  if (!limits) return {};
  checkKeys(limits, Object.keys(limitTable));
  const chosen: Partial<Record<LimitName, number>> = {};
  for (const [name, value] of Object.entries(limits.data)) {
    if (!isLimitName(name)) continue;
    const { max } = limitTable[name];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max) {
      throw invalidField(pathOf(limits, name), `a whole number from 1 to ${max}`, value);
    }
    chosen[name] = value;
  }
  return chosen;
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(limitTable, name);
}

function readPermissions(
  node: ManifestNode,
  input: ManifestInput,
): { permissions: PermissionSet; permissionsSource: 'declared' | 'inferred' } {
  if (node.data.permissions === undefined) {
    const inferred = parseRequestedPermissions(input.inferred?.permissions ?? {});
    return { permissions: inferred.ok ? inferred.permissions : {}, permissionsSource: 'inferred' };
  }
  const parsed = parseRequestedPermissions(node.data.permissions);
  if (parsed.ok) return { permissions: parsed.permissions, permissionsSource: 'declared' };
  const key = parsed.key === undefined ? 'permissions' : `permissions.${parsed.key}`;
  throw new HotcellError('permissions-invalid', parsed.message, { facts: { key } });
}

function refuseOfferings(): HotcellError {
  return new HotcellError('manifest-invalid', 'A plugin of the engine "extism" brings tools, and no prompts or resources.', {
    facts: { key: 'engine' },
    fix: 'Leave out prompts and resources, or write the plugin for "quickjs", "deno" or "docker".',
  });
}

interface ToolsInput {
  readonly name: string;
  /** It need not have a tool, then. */
  readonly hasOfferings: boolean;
  readonly input: ManifestInput;
  readonly warn: (warning: string) => void;
}

function readTools(node: ManifestNode, { name, hasOfferings, input, warn }: ToolsInput): ToolManifest[] {
  const tools: ToolManifest[] = [];
  const context = (handler: string) => ({
    handler,
    inferred: input.inferred && Object.hasOwn(input.inferred.handlers, handler) ? input.inferred.handlers[handler] : undefined,
    warn,
  });
  const table = readToolTable(node);
  if (node.data.handler !== undefined || (!table && !hasOfferings)) tools.push(readTool(node, { ...context('default'), name }));
  const entries = Object.keys(table?.data ?? {});
  if (table && (entries.length === 0 || entries.length > maxTools)) {
    throw invalidField(table.path, `an object with 1 to ${maxTools} tools`, entries.length);
  }
  for (const key of table ? entries : []) {
    const tool = table && readObject(table, key);
    if (!tool) continue;
    const toolName = Array.isArray(node.data.tools) ? readListedName(tool) : key;
    if (!namePattern.test(toolName) || toolName === 'default') {
      throw new HotcellError('manifest-invalid', `"${toolName}" cannot be the name of a tool.`, {
        facts: { key: tool.path },
        fix: 'Use 1 to 64 letters, digits, "_" or "-", and not "default".',
      });
    }
    if (tools.some((known) => known.name === toolName))
      throw invalidField(tool.path, 'named unlike the other tools and unlike a plugin that has a handler too', toolName);
    checkKeys(tool, tool.data.name === toolName ? [...toolKeys, 'name'] : toolKeys);
    tools.push(readTool(tool, { ...context(key), name: toolName, defaults: node }));
  }
  return tools;
}

/** The tools by the key under which engines find their handlers; those of a list stand under their numbers. */
function readToolTable(node: ManifestNode): ManifestNode | undefined {
  const { tools } = node.data;
  // The functions of a module in WebAssembly have names alone.
  if (Array.isArray(tools) && node.data.engine !== 'extism') return { path: pathOf(node, 'tools'), data: { ...tools } };
  return readObject(node, 'tools');
}

function readListedName(tool: ManifestNode): string {
  const name = readTextField(tool, 'name', 64);
  if (name === undefined) throw invalidField(pathOf(tool, 'name'), 'the name of the tool, since "tools" is a list', undefined);
  return name;
}

function readHooks(node: ManifestNode): PluginManifest['hooks'] {
  const has = (key: string) => {
    const value = node.data[key];
    if (value !== undefined && !isFunctionMark(value)) throw invalidField(pathOf(node, key), 'a function', value);
    return value !== undefined;
  };
  has('onLoad');
  const { metadata } = node.data;
  if (metadata !== undefined && !isObject(metadata)) throw invalidField(pathOf(node, 'metadata'), 'an object', metadata);
  return { onStart: has('onStart'), onReload: has('onReload'), healthcheck: has('healthcheck') };
}

/** Adds the place of the key in the entry, or of the nearest key around it. */
function toDiagnostic(error: HotcellError, input: ManifestInput): Diagnostic {
  const base = { code: error.code, message: error.message, fix: error.fix };
  if (!input.inferred?.entry) return base;
  const { path: file, text } = input.inferred.entry;
  const key = typeof error.facts.key === 'string' ? error.facts.key : undefined;
  const position = key === undefined ? undefined : findPosition(key, input.inferred.positions);
  if (!position) return { ...base, file };
  return { ...base, file, ...position, codeFrame: renderCodeFrame(text, position) };
}

function findPosition<Position>(key: string, positions: Readonly<Record<string, Position>>): Position | undefined {
  for (let path = key; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.')))) {
    if (Object.hasOwn(positions, path)) return positions[path];
  }
  return undefined;
}
