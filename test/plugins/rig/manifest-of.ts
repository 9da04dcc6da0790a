import type { PermissionSet } from '../../../src/config/permission-set.ts';
import { parsePermissions } from '../../../src/permissions/parse.ts';
import { nameFromFile } from '../../../src/plugins/discovery/entry-names.ts';
import type { PluginManifest, ToolManifest } from '../../../src/plugins/manifest-types.ts';
import type { Diagnostic } from '../../../src/plugins/plugin-types.ts';
import type { ManifestQuestion } from '../../../src/plugins/supervisor/build.ts';

type Reading = { ok: true; manifest: PluginManifest } | { ok: false; diagnostic: Diagnostic };

/** Reads as much of a manifest as the tests of the supervisor need. */
export function manifestOf({ exported, fileName }: ManifestQuestion): Reading {
  const main = isRecord(exported) ? exported.default : undefined;
  if (!isRecord(main)) {
    return { ok: false, diagnostic: { code: 'export-missing', message: `${fileName} has no default export.`, fix: 'Add one.' } };
  }
  const name = typeof main.name === 'string' ? main.name : nameFromFile(fileName);
  const version = typeof main.version === 'string' ? main.version : '0.0.0';
  const tools = isRecord(main.tools) ? Object.keys(main.tools).map((key) => toolOf(key, key)) : [toolOf(name, 'default')];
  const manifest: PluginManifest = {
    name,
    version,
    description: String(main.description ?? ''),
    engine: 'quickjs',
    isolation: 'call',
    limits: {},
    permissions: permissionsOf(main.permissions),
    permissionsSource: 'declared',
    tools,
    hooks: { onStart: false, onReload: false, healthcheck: false },
    warnings: [],
  };
  return { ok: true, manifest };
}

function permissionsOf(value: unknown): PermissionSet {
  const parsed = parsePermissions(value ?? {});
  return parsed.ok ? parsed.permissions : {};
}

function toolOf(name: string, handler: string): ToolManifest {
  return {
    name,
    handler,
    description: '',
    input: { type: 'object' },
    inputSource: 'none',
    flags: {
      isResearch: false,
      isSideEffect: false,
      isDeep: false,
      isDangerous: false,
      isElevated: false,
      isParallelSafe: true,
    },
    tags: [],
    mode: 'on',
    retries: 0,
    idempotent: false,
    examples: [],
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
