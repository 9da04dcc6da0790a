import type { JsonSchema, ToolManifest } from '../../units/tool-manifest.ts';
import type { PluginManifest } from '../generations/generation.ts';

/** Permissions whose use every host of Extism has, in a form of its own. */
const portablePermissions: readonly string[] = ['net', 'env', 'kv'];

/**
 * A manifest as the data that a sidecar of a module holds, so that the module is the same plugin in a daemon: schemas, flags,
 * limits, permissions. `exportOf` names the export of a tool. Pure.
 */
export function writeSidecar(manifest: PluginManifest, exportOf: (tool: string) => string): Record<string, unknown> {
  const { name, version, description, limits, permissions, tools, sourceUrl } = manifest;
  return {
    name,
    version,
    description,
    limits,
    permissions,
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, writeTool(tool, exportOf(tool.name))])),
  };
}

/** The permissions that only a daemon can use, by name. */
export function listDaemonPermissions({ permissions }: Pick<PluginManifest, 'permissions'>): string[] {
  return Object.keys(permissions).filter((key) => !portablePermissions.includes(key));
}

function writeTool(tool: ToolManifest, exportName: string): Record<string, unknown> {
  const {
    name: _name,
    handler: _handler,
    inputSource: _source,
    checkedByPlugin = [],
    input,
    output,
    flags,
    tags,
    ...rest
  } = tool;
  // The module brings the schema objects of its plugin along: there too they check, and what stands here describes.
  const mark = (schema: JsonSchema, side: 'input' | 'output') =>
    checkedByPlugin.includes(side) ? { ...schema, $standardSchema: true } : schema;
  const described = { parameters: mark(input, 'input'), ...(output && { output: mark(output, 'output') }) };
  return { ...rest, ...flags, ...described, ...(tags.length > 0 && { tags }), export: exportName };
}
