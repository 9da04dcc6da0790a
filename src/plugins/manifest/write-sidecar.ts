import type { PermissionSet } from '../../config/permission-set.ts';
import type { PluginManifest, ToolManifest } from '../manifest-types.ts';

/** Permissions that mean something for a module: what it reaches through the functions of every Extism host. */
const modulePermissions = ['net', 'env'] as const satisfies readonly (keyof PermissionSet)[];

/**
 * A manifest as the data that a sidecar of a module holds, so that the module is the same plugin: schemas, flags, limits,
 * and those permissions that a module can use. `exportOf` names the export of a tool. Pure.
 */
export function writeSidecar(manifest: PluginManifest, exportOf: (tool: string) => string): Record<string, unknown> {
  const { name, version, description, limits, permissions, tools, sourceUrl } = manifest;
  const kept = Object.fromEntries(modulePermissions.flatMap((key) => (permissions[key] ? [[key, permissions[key]]] : [])));
  return {
    name,
    version,
    description,
    limits,
    permissions: kept,
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, writeTool(tool, exportOf(tool.name))])),
  };
}

/** The permissions that a module cannot use, by name. */
export function listUnusablePermissions({ permissions }: Pick<PluginManifest, 'permissions'>): string[] {
  const usable: readonly string[] = [...modulePermissions, 'kv'];
  return Object.keys(permissions).filter((key) => !usable.includes(key));
}

function writeTool(tool: ToolManifest, exportName: string): Record<string, unknown> {
  const { name: _name, handler: _handler, inputSource: _source, input, flags, tags, ...rest } = tool;
  return { ...rest, ...flags, parameters: input, ...(tags.length > 0 && { tags }), export: exportName };
}
